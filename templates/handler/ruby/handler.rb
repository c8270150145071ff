# Performs jobs of the type @NAME@. It reads a JSON line for each job, and answers with a JSON line on
# descriptor 3. What it prints is logged. later-job(3), section exec, lists all members of both lines.
require "json"

class Bury < StandardError; end # dead at once; any other error is a retry

def perform(job)
  payload = job["document"]["payload"]
  raise Bury, "payload.name is missing" unless payload.is_a?(Hash) && payload["name"]
  puts "attempt #{job["attempt"]} of #{job["max_attempts"]}"
  { greeting: "hello, #{payload["name"]}" } # for who waits for the job's result
end

def text(said) # as laterd keeps it
  said.dup.force_encoding("UTF-8").scrub.tr("\0", "?")[0, 1000]
end

def answer(job)
  { result: "done", value: perform(job) }
rescue Bury => e
  { result: "bury", error: text(e.message) }
rescue StandardError, ScriptError, SystemExit => e
  { result: "retry", error: text(["#{e.class}: #{e.message}", *e.backtrace].join("\n  ")) }
end

def line(job)
  JSON.generate({ id: job["id"], **answer(job) }, max_nesting: 0)
rescue JSON::JSONError => e # its value is not JSON; the work is done, so it is not tried again. Buried if somebody wants the value
  JSON.generate({ id: job["id"], result: "bury", error: text("its value is not JSON: #{e.message}"), done: true })
end

$stdout.sync = true # it is logged as it is printed
trap("INT", "IGNORE") # laterd's affair
answers = IO.for_fd(3, "w")
answers.sync = true
$stdin.each_line do |asked|
  job = JSON.parse(asked, max_nesting: 0)
  next if job["cancel"] # that job has ended, since there is one at a time
  answers.puts(line(job))
end
