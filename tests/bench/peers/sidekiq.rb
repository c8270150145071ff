# sidekiq.rb: no-op jobs on Sidekiq.
#
#   ruby sidekiq.rb push         pushes $JOBS jobs in bulk
#   sidekiq -r ./sidekiq.rb      runs them; prints one row after the last and ends
#
# $REDIS_URL says where. Redis's own CPU time is asked for before and after.

require 'sidekiq'

JOBS = Integer(ENV.fetch('JOBS'))

# Counts jobs, and tells at the last.
module Tally
  @lock = Mutex.new
  @count = 0

  def self.server_cpu
    Sidekiq.redis { |redis| redis.info('cpu') }.values_at('used_cpu_sys', 'used_cpu_user').sum(&:to_f)
  end

  def self.clocks
    [Process.clock_gettime(Process::CLOCK_MONOTONIC), server_cpu,
     Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)]
  end

  def self.one_more
    @lock.synchronize do
      @before ||= clocks
      @count += 1
      tell if @count == JOBS
    end
  end

  def self.tell
    seconds, server, worker = clocks.zip(@before).map { |after, before| after - before }
    printf("{\"bench\":\"peer\",\"peer\":\"sidekiq\",\"jobs\":%d,\"rate\":%.0f," \
           "\"server_us\":%.3f,\"worker_us\":%.3f}\n",
           JOBS, JOBS / seconds, server / JOBS * 1e6, worker / JOBS * 1e6)
    $stdout.flush
    Process.kill('TERM', Process.pid)
  end
end

# Does nothing, with about 100 bytes.
class Null
  include Sidekiq::Worker

  def perform(_text)
    Tally.one_more
  end
end

if ARGV.first == 'push'
  Array.new(JOBS) { ['x' * 20] }.each_slice(1000) do |slice|
    Sidekiq::Client.push_bulk('class' => Null, 'args' => slice)
  end
end
