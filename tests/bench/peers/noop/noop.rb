# frozen_string_literal: true

# noop.rb: a program of handlers that do nothing, and one that tells when it began ($MARKS). $CLIENT: clients/ruby.
$LOAD_PATH.unshift "#{ENV["CLIENT"]}/lib"
require "laterd"

marks = File.open(ENV["MARKS"], "ab")
app = Laterd::Handlers.new
app.on("null") { |_job| nil }
app.on("mark") do |job|
  now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  marks.syswrite([job.payload["at"], now].pack("dd"))
  nil
end
app.run
