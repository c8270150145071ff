# In laterd's sources the gem takes its copy of the scripts from there.
carry = File.join(__dir__, "..", "carry.sh")
abort "carry.sh failed" if File.exist?(carry) && !system("sh", carry, "ruby")
scripts = File.join(__dir__, "lib/laterd/scripts")
abort "#{scripts} is missing: copy the folder after clients/carry.sh ruby" unless Dir.exist?(scripts)

Gem::Specification.new do |gem|
  gem.name = "laterd"
  gem.version = "0.1.0"
  gem.summary = "Push jobs to the queues of laterd in Redis, and perform them"
  gem.authors = ["The laterd authors"]
  gem.license = "MIT"
  gem.description = "Pushes jobs, waits for them and performs them; tests without Redis; a door into Active Job."
  gem.files = Dir.chdir(__dir__) { Dir["lib/**/*.{rb,lua}", "README.md", "LICENSE", "CHANGELOG"] } # a copied folder may have no licence
  gem.required_ruby_version = ">= 2.7"
  gem.add_runtime_dependency "redis", ">= 4.6"
end
