# frozen_string_literal: true

# noop.rb: a program of handlers that do nothing. $CLIENT: clients/ruby.
$LOAD_PATH.unshift "#{ENV["CLIENT"]}/lib"
require "laterd"

app = Laterd::Handlers.new
app.on("null") { |_job| nil }
app.run
