# frozen_string_literal: true

# wait.rb SOCKET: in Ruby, one thread waits for a result while another pushes with the same client.
# Prints `ok NAME` or `no NAME`, like judge.py.

$LOAD_PATH.unshift File.expand_path("../../clients/ruby/lib", __dir__)
require "laterd"
require "timeout"

HANGS = 60 # seconds, for what takes none

# A waiting call that ends by itself would let the other thread in.
Laterd::Client.send(:remove_const, :BLOCK)
Laterd::Client::BLOCK = 10.0 * HANGS

def told(good, name)
  puts "#{good ? "ok" : "no"} wait: #{name}"
end

$stdout.sync = true
look = Redis.new(path: ARGV[0])
look.flushall
look.hset("later:{w}:jobs", "j-1", '{"type":"a","result":60}')
later = Laterd::Client.new(Redis.new(path: ARGV[0]))
waits = Thread.new { later.wait("j-1", queue: "w") }
Timeout.timeout(HANGS) { sleep 0.01 until look.info("clients")["blocked_clients"] == "1" }
pushed = begin
  Timeout.timeout(HANGS) { later.push("a", queue: "w") }
rescue Timeout::Error
  nil
end
told(pushed&.new?, "another thread pushes meanwhile")
look.hdel("later:{w}:jobs", "j-1")
look.rpush("later:{w}:result:j-1", %({"state":"done","attempt":1,"at":1}\n{"width":640}))
told(waits.value == { "width" => 640 }, "and the one that waits has its value")
Timeout.timeout(HANGS) { sleep 0.01 until look.info("clients")["connected_clients"] == "2" }
told(true, "its connection is closed then")
