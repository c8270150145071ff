# frozen_string_literal: true

# handlers.rb: handlers by type, their hooks, and the verdicts that they raise: Retry, Bury, Return.

require "json"
require "rbconfig"

require_relative "answers"
require_relative "job"
require_relative "new_job"
require_relative "program"
require_relative "task"

module Laterd
  # Raised by a handler that ends its attempt in another way than by returning.
  class Verdict < StandardError
    attr_reader :delay

    # in: seconds
    def initialize(why = nil, **options)
      unknown = options.keys - [:in]
      raise ArgumentError, "unknown keyword: #{unknown.join(" ")}" unless unknown.empty?

      @delay = options[:in]
      raise ArgumentError, "in: #{@delay.inspect} is no number of seconds" \
        unless @delay.nil? || @delay.is_a?(Numeric) && @delay.real? && @delay.to_f.finite?

      super(why || self.class.name)
    end
  end

  # @answers raised: # {Help}\nclass {Pascal} < Verdict; end\n
  # Tries the job again, after the backoff or the wait given; after the last attempt it is buried.
  class Retry < Verdict; end

  # Buries the job at once, because another try cannot help.
  class Bury < Verdict; end

  # Gives the job back for the wait given, as if it had not begun; it is no attempt.
  class Return < Verdict; end

  # @end

  # The job goes on at its checkpoint, in another laterd.
  class GoesOn < Return; end
  private_constant :GoesOn

  # Raised in a handler when laterd ends its program. It is no StandardError, so that `rescue => e` does
  # not hold it.
  class TimeIsUp < Exception; end # rubocop:disable Lint/InheritException

  # Returns the job whose handler is the caller, directly or indirectly.
  def self.current_job
    Thread.current.thread_variable_get(:laterd_job)
  end

  # The functions of a program, by type: a program of laterd's plugin exec, with `lines = true`.
  #
  #   app = Laterd::Handlers.new
  #   app.on("mail.send") { |job| Mail.deliver(job.payload["to"]) }
  #   app.run
  #
  # What a function returns is the job's value; what it raises ends the attempt; what it prints is logged.
  class Handlers
    RESULTS = {
      # @answers raised: {Pascal} => "{name}",
      Retry => "retry",
      Bury => "bury",
      Return => "return",
      # @end
    }.freeze
    STATUS = {
      # @answers answer: "{name}" => {status},
      "done" => 0,
      "retry" => 75,
      "bury" => 65,
      "return" => 75,
      # @end
    }.freeze

    TYPES = /\A(?!\z)[A-Za-z0-9_.:-]{0,128}\*?\z/.freeze

    # queues: a Client, or a Fake in a test; tasks push by it
    attr_accessor :queues

    def initialize(queues: nil)
      @queues = queues
      @functions = {}
      @places = {} # where each was registered
      @policies = {}
      @bury = {}
      @waits = {}
      @given_up = {}
      @hooks = { before: [], after: [], failed: [], around: [] }
    end

    # Registers a block, or what has a method `call`, for these types. A type that ends in * is a prefix. A type has
    # one block.
    #
    #   retries, backoff: how often a job is tried again and after which waits, as of NewJob, if neither the
    #                     job nor laterd.conf says otherwise. backoff may be a proc |job, error|, which is asked
    #                     after each attempt that raises: the seconds, or nil for laterd's own waits
    #   bury: classes of errors after which another try cannot help: the job is buried at once
    #   on_dead, on_done: the type of a job that is pushed when one of these is dead, or done, also after a crash
    def on(*types, function: nil, retries: nil, backoff: nil, bury: [], on_dead: nil, on_done: nil, &block)
      raise ArgumentError, "on: a block or a function" unless block || function.respond_to?(:call)
      raise ArgumentError, "on: texts, the types, not #{types.inspect[0, 80]}" unless types.any? && types.all?(String)

      waits = backoff if backoff.respond_to?(:call)
      policy = policy_of(max_attempts: retries && retries + 1, backoff: waits ? nil : backoff, on_dead: on_dead, on_done: on_done)
      place = place_of_caller
      types.each do |type|
        check_on_dead(type, policy, @given_up[type])
        raise Refused, "on: #{type} is neither a type nor a prefix of types that ends in *" unless type.match?(TYPES)
        raise Refused, "type #{type} has two handlers, at #{@places[type]} and at #{place}: remove one" if @places[type]

        @places[type] = place
        @functions[type] = function || block
        @policies[type] = policy
        @bury[type] = Array(bury)
        @waits[type] = waits
      end
      self
    end

    # The same, for one type without a star; returns its Task, whose `later` pushes.
    def task(type, **options, &block)
      raise ArgumentError, "task: #{type} is no type" if type.end_with?("*")

      on(type, **options, &block)
      Task.new(self, type)
    end

    # The block gets a job when one of these types is dead, whatever the reason, also after a crash. Its payload
    # has id, type, queue, attempts and error of the other. Its own type is TYPE.given_up, which laterd.conf must
    # give to the program, too, where it names types.
    def given_up(*types, &block)
      types.each do |type|
        name = [type.sub(/\.?\*\z/, ""), "given_up"].reject(&:empty?).join(".")
        check_on_dead(type, @policies.fetch(type, {}), name)
        on(name, &block)
        @given_up[type] = name
      end
      self
    end

    # The block gets each job before it is performed. What it raises ends the attempt.
    def before(&hook)
      add_hook(:before, hook)
    end

    # The block gets each job that is done, and its value. What it raises is logged.
    def after(&hook)
      add_hook(:after, hook)
    end

    # The block gets each job whose attempt has raised an error, but Return, and the error. What it raises is
    # logged. It does not see crashes and time-outs; given_up does.
    def failed(&hook)
      add_hook(:failed, hook)
    end

    # The block gets each job and what performs it with its other hooks:
    #
    #   app.around { |job, perform| Tenant.use(job.context["tenant"]) { perform.call } }
    def around(&middleware)
      add_hook(:around, middleware)
    end

    # The line by which the program introduces itself.
    def hello
      { hello: 1, stopping: true, types: types.map { |name| { name: name, **@policies[name], **gone(name) } } }
    end

    def types
      @functions.keys.sort
    end

    # Finds the exact name, otherwise the longest prefix.
    def match(type)
      return type if @functions.key?(type)

      type.length.downto(0).lazy.map { |n| "#{type[0, n]}*" }.find { |name| @functions.key?(name) }
    end
    private :match

    # What the program tells laterd of a type, by the names of a job's document.
    def policy(type)
      name = match(type)
      name ? { **@policies[name], **gone(name) } : {}
    end

    def find(type)
      @functions[match(type)]
    end

    # Performs one job, and returns the members of its answer.
    def perform(job)
      name = match(job.type)
      function = @functions[name]
      return { result: "bury", error: "the program has no handler for type #{job.type}" } unless function

      Thread.current.thread_variable_set(:laterd_job, job)
      value = @hooked ? hooked(function, job) : call(function, job)
      value.nil? ? { result: "done" } : { result: "done", value: value }
    rescue Exception => e # exit ends its own job only # rubocop:disable Lint/RescueException
      if @bury.fetch(name, []).any? { |kind| e.is_a?(kind) }
        { result: "bury", error: Answers.error(e) }
      else
        { **answer(e), **wait(@waits[name], job, e) }
      end
    ensure
      Thread.current.thread_variable_set(:laterd_job, nil)
    end

    # Returns the answer for an attempt that has raised this error.
    def answer(error)
      return { result: "retry", error: Answers.error(error) } unless error.is_a?(Verdict)
      return { result: "return", in: 0 } if error.is_a?(GoesOn)

      cause = error.cause ? "\n#{Answers.error(error.cause)}" : ""
      said = Answers.text(Answers.text(error.message) + cause, Answers::ERROR_MAX)
      answer = { result: RESULTS.find { |kind, _| error.is_a?(kind) }.last, error: said }
      error.delay ? answer.merge(in: [error.delay.to_f, 0].max) : answer
    end

    # Under laterd: performs jobs until laterd closes standard input, and then finishes those under way.
    # By hand, `ruby app.rb TYPE [PAYLOAD]`: performs one job, and exits with 0 if it is done, 65 if
    # buried, else 75. `ruby app.rb --work [Q…] [OPTIONS of later work]`: a laterd for this program alone,
    # until ^C.
    #
    # max_jobs, max_memory (bytes): after this the program ends, and laterd starts it again; 0: never.
    def run(max_jobs: 0, max_memory: 0)
      fd = ENV["LATER_ANSWERS"]
      exit(ARGV.first == "--work" ? work(ARGV.drop(1)) : try_once(*ARGV)) unless fd
      io = IO.for_fd(Integer(fd), "wb")
      io.sync = io.close_on_exec = true
      Program.new(self, Answers.new(io), max_jobs, max_memory).run
    end

    private

    def add_hook(name, hook)
      raise ArgumentError, "#{name}: a block" unless hook

      @hooks[name] << hook
      @hooked = true
      self
    end

    def call(function, job)
      function.call(job).tap { |value| raise GoesOn if job.goes_on?(value) }
    end

    def hooked(function, job)
      perform = lambda do
        @hooks[:before].each { |hook| hook.call(job) }
        call(function, job).tap { |value| tell(:after, job, value) }
      rescue Exception => e # rubocop:disable Lint/RescueException
        tell(:failed, job, e) unless e.is_a?(Return)
        raise
      end
      @hooks[:around].reverse.reduce(perform) { |inner, one| -> { one.call(job, inner) } }.call
    end

    def tell(name, job, what)
      @hooks[name].each do |hook|
        hook.call(job, what)
      rescue StandardError => e
        job.log("the hook #{name}: #{Answers.error(e)}", :error)
      end
    end

    # Asks a proc; one that fails, or has no number, leaves it to laterd.
    def wait(waits, job, error)
      return {} if !waits || error.is_a?(Verdict) && (!error.is_a?(Retry) || error.delay)

      seconds = waits.call(job, error)
      return {} if seconds.nil?
      raise ArgumentError, "#{seconds} is no number of seconds" unless seconds.is_a?(Numeric) && seconds.to_f.finite?

      { in: [seconds.to_f, 0].max }
    rescue StandardError => e
      job.log("the backoff: #{Answers.error(e)}", :error)
      {}
    end

    def gone(type)
      @given_up.key?(type) ? { on_dead: @given_up[type] } : {}
    end

    # Returns which FILE:LINE has called this gem.
    def place_of_caller
      at = caller_locations.find { |one| one.path != __FILE__ }
      "#{at.path}:#{at.lineno}"
    end

    def check_on_dead(type, policy, given_up)
      raise Refused, "on_dead: of type #{type} it is given_up" if policy[:on_dead] && given_up
    end

    # Returns the members of a job's document that say the same.
    def policy_of(options)
      options = options.compact
      JSON.parse(NewJob.new("policy", nil, **options).document, symbolize_names: true).slice(*options.keys)
    end

    # Takes the place of laterd, and shows what it is told.
    class Shown
      def put(line)
        warn JSON.generate(line)
      end
    end
    private_constant :Shown

    # Folders that any Ruby looks into.
    RUBYS_OWN = %w[sitelibdir sitearchdir sitedir vendorlibdir vendorarchdir vendordir rubylibdir rubyarchdir].freeze
    # What was looked into before the program added to it, which it will do again.
    GIVEN = $LOAD_PATH.dup.freeze
    private_constant :RUBYS_OWN, :GIVEN

    # Becomes `later work`, which starts a laterd that runs this program. Without -p, it gets ten jobs at once.
    def work(words)
      queues = words.first.to_s.match?(/\A[^-]/) ? [] : ["default"]
      many = words.any?(/\A(-p|--parallel)/) ? [] : ["-p", "10"]
      exec("later", "work", *queues, *words, *many, "--lines", "--", RbConfig.ruby, *load_options, $PROGRAM_NAME)
    rescue SystemCallError => e
      warn "later: #{e.message}; it comes with laterd"
      69
    end

    # Returns the options by which Ruby finds what this program has found. Gems find themselves.
    def load_options
      gems = Gem.loaded_specs.values.flat_map(&:full_require_paths)
      paths = (GIVEN - RbConfig::CONFIG.values_at(*RUBYS_OWN) - gems).flat_map { |path| ["-I", path] }
      $LOADED_FEATURES.any? { |file| file.end_with?("/bundler/setup.rb") } ? [*paths, "-rbundler/setup"] : paths
    end

    # Says how the program is called, by hand; option: what it was called with. Returns its exit status.
    def usage(option)
      unless %w[--help -h].include?(option)
        warn "#{option}: no such option; it is --work [Q...], or TYPE [PAYLOAD]"
        return 64
      end
      puts <<~TEXT
        usage: ruby #{$PROGRAM_NAME} [TYPE [PAYLOAD|-]]
               ruby #{$PROGRAM_NAME} --work [Q...] [OPTIONS of later work]

        Performs one job, without laterd; without a TYPE it lists its types. --work: a laterd for
        this program alone, until ^C; `later help work` has the options.
      TEXT
      0
    end

    def try_once(type = nil, payload = "null", *)
      return puts(types) || 0 unless type
      return usage(type) if type.start_with?("-") && !types.include?(type)

      document = { "type" => type, "payload" => JSON.parse(payload == "-" ? $stdin.read : payload) }
      line = { "id" => "try", "type" => type, "queue" => "default", "max_attempts" => 25, "time_left" => 300.0,
               "document" => document }
      *notes, last = Answers.lines(perform(Job.new(line, Shown.new))).map { |told| JSON.parse(told, max_nesting: false) }
      notes.each { |note| warn note["text"] }
      last["error"] ? warn("#{last["result"]}: #{last["error"]}") : puts(JSON.generate(last["value"]))
      STATUS[last["result"]]
    rescue JSON::ParserError => e
      warn "PAYLOAD is no JSON: #{e.message}"
      64
    end
  end
end
