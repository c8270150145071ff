# frozen_string_literal: true

# program.rb: the main loop of a program of handlers: reads lines, performs jobs in threads.

require "etc"
require "json"

require_relative "job"

module Laterd
  # The main loop of a program of handlers. A thread reads lines; with `parallel` so many threads
  # perform jobs, otherwise the main thread does.
  class Program
    READ = 1 << 16 # as much as a pipe holds; a larger block would be mapped anew for each read

    def initialize(handlers, answers, max_jobs, max_memory)
      @handlers, @answers = handlers, answers
      @max_jobs, @max_memory = max_jobs, max_memory
      @parallel = ENV["LATER_PARALLEL"].to_i # threads at most; 0: the main thread alone
      @work = Queue.new  # jobs for the threads
      @threads = 0
      @inbox = Queue.new # jobs for the main thread; :term; :over, nothing more comes; :done, a thread has ended
      @jobs = {}         # id → job that was read and is not answered
      @mutex = Mutex.new
      @begun = 0
      @ending = @inline = false
    end

    def run
      $stdout.sync = true # what is printed is logged as it is printed
      trap("INT", "IGNORE") # laterd's affair
      trap("TERM") { @inline ? @answers.interrupt(TimeIsUp.new("laterd ends the program")) : @inbox << :term }
      @answers.put(@handlers.hello)
      reader = Thread.new { read }
      reader.report_on_exception = true
      take(@inbox.pop) until @ending && @mutex.synchronize { @jobs.empty? }
      reader.kill
    end

    private

    def take(what)
      case what
      when Job then perform_inline(what)
      when ThreadError then raise what
      when :over then @ending = true
      when :term
        @ending = true
        @mutex.synchronize { @jobs.each_value(&:cancel) }
      end
    end

    # Called in the thread that reads: by way of the main thread a job would begin later.
    def hand_over(job)
      @work << job
      @mutex.synchronize do
        start_thread if @threads < [@parallel, @jobs.size].min
      end
    rescue ThreadError => e # the program ends
      @inbox << e
    end

    # One that a handler has ended is replaced when the next job comes.
    def start_thread
      @threads += 1
      Thread.new do
        loop { perform_in_thread(@work.pop) }
      ensure
        @mutex.synchronize { @threads -= 1 }
      end
    end

    def perform_in_thread(job)
      answer = { result: "retry", error: "the handler has ended its thread" }
      answer = @handlers.perform(job)
    ensure
      finish(job, answer)
      @inbox << :done
    end

    def perform_inline(job)
      @inline = true
      begin
        answer = @handlers.perform(job)
      rescue TimeIsUp => e # just before or after the function
        answer = @handlers.answer(e)
      end
      @inline = false
      finish(job, answer)
    end

    def finish(job, answer)
      last = @ending && @mutex.synchronize { @jobs.size == 1 }
      @answers.put({ id: job.id, **answer, **(last ? { last: true } : {}) })
      # Not before: the program ends when no job is left. Another one of this id may have come by now.
      @mutex.synchronize { @jobs.delete(job.id) if @jobs[job.id].equal?(job) }
    end

    # ---- standard input

    def read
      $stdin.binmode
      rest = "".b
      until rest.empty? && enough?
        chunk = $stdin.readpartial(READ)
        *lines, rest = (rest << chunk).split("\n", -1)
        # A job that was read in part counts as begun by this program, so the rest is read too.
        lines.each { |line| hear(JSON.parse(line.force_encoding("UTF-8"), max_nesting: false)) }
      end
    rescue EOFError, Errno::EIO
      nil
    ensure
      @inbox << :over
    end

    def hear(line)
      return @mutex.synchronize { @jobs[line["id"]] }&.cancel if line["cancel"]
      return @mutex.synchronize { @jobs[line["id"]] }&.stop if line["stopping"]

      job = Job.new(line, @answers)
      @begun += 1
      @mutex.synchronize { @jobs[job.id] = job }
      @parallel.positive? ? hand_over(job) : @inbox << job
    end

    def enough?
      return true if @max_jobs.positive? && @begun >= @max_jobs

      @max_memory.positive? && File.read("/proc/self/statm").split[1].to_i * Etc.sysconf(Etc::SC_PAGESIZE) > @max_memory
    end
  end
end
