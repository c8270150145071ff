# In laterd's sources the gem takes its copy of the scripts from there.
carry = File.join(__dir__, "..", "carry.sh")
abort "carry.sh failed" if File.exist?(carry) && !system("sh", carry, "ruby")

Gem::Specification.new do |gem|
  gem.name = "laterd"
  gem.version = "0.1.0"
  gem.summary = "Push jobs to the queues of laterd in Redis, and perform them"
  gem.authors = ["The laterd authors"]
  gem.license = "MIT"
  gem.files = Dir.chdir(__dir__) { Dir["lib/**/*.{rb,lua}"] + ["README.md"] }
  gem.required_ruby_version = ">= 2.7"
  gem.add_runtime_dependency "redis", ">= 4.6"
end
