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

def answer(job)
  { result: "done", value: perform(job) }
rescue Bury => e
  { result: "bury", error: e.message }
rescue StandardError => e
  { result: "retry", error: e.full_message(highlight: false) }
end

trap("INT", "IGNORE") # laterd's affair
answers = IO.for_fd(3, "w")
answers.sync = true
$stdin.each_line do |line|
  job = JSON.parse(line)
  next if job["cancel"] # that job has ended, since there is one at a time
  answers.puts(JSON.generate({ id: job["id"], **answer(job) }))
end
