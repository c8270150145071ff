# frozen_string_literal: true

# answers_gem.rb: handlers for handlers_answers.sh, by the Ruby client: as a job's payload says.

$LOAD_PATH.unshift "#{ENV["CLIENT"]}/lib"
require "laterd"
require_relative "answers_app"

Bury = Laterd::Bury

def more(job, does)
  value = perform({ "id" => job.id, "type" => job.type, "document" => job.document }) # notes it, too
  return job.resumes unless job.resumes.nil?

  job.checkpoint(made(job.payload[-1])) if %w[checkpoint stop].include?(does)
  case does
  when "checkpoint" then raise "again"
  when "stop" then sleep 0.01 until job.stopping?
  when "retry" then raise Laterd::Retry.new("busy", in: Float::INFINITY)
  when "log" then job.log("far\0too long#{"\x01" * 300_000}")
  when "progress" then job.progress(Float::NAN, Float::INFINITY, "a\0\xf0b")
  else value
  end
end

app = Laterd::Handlers.new
app.on("gem.*") { |job| more(job, job.payload[0]) }
app.run
