# frozen_string_literal: true

# crontab.rb: schedules, as Redis keeps them: doc/protocol.md, "Schedules". What an expression means is laterd's: here
# only its form is checked.

require_relative "new_job"

module Laterd
  # A schedule that is in Redis: see cron_list. next: when it is due, UNIX seconds; nil: never, or it is paused; a Fake does
  # not know. origin: "set", or "config:HOST:ID": it stands in the configuration of that laterd.
  Schedule = Struct.new(:name, :at, :zone, :next, :paused, :origin, keyword_init: true) do
    # Reads the answer of cron_look.
    # @private
    def self.listed(reply)
      reply.drop(2).each_slice(5).map do |told|
        name, due, _sha, *notes = told.map { |text| text.dup.force_encoding("UTF-8") }
        lines, state = notes.map { |text| text.scan(/^([a-z_]+)=(.*)$/).to_h }
        new(name: name, at: lines.fetch("at", ""), zone: lines.fetch("zone", "UTC"), next: due == "inf" ? nil : due.to_f,
            paused: state["paused"] == "1", origin: state.fetch("origin", ""))
      end
    end
  end

  # A schedule to set: a job is pushed whenever `at` is due.
  #
  #   at: "0 3 * * mon-fri", "@every 90s": later(1), `later cron`
  #   job: a NewJob without an id, a time, a flow
  # @schedule own: #   {name}: {help} ({value}; {unsaid})
  #   zone: by whose clocks it is due, such as Europe/Berlin (a time zone; UTC)
  #   catch_up: ticks missed while no host was up: the last, none, or all of a day, at most 100 (last, none, all; last)
  #   overlap: if the last job has not ended: allow, skip, replace it if it waits, queue one (allow, skip, replace, queue; allow)
  #   spread: jobs are spread over this time after their ticks (whole seconds; 0)
  #   late: a tick that is later than this is missed (whole seconds; 60)
  #   from: no tick is before this time (UNIX seconds; no bound)
  #   until: no tick is after this time (UNIX seconds; no bound)
  #   limit: how many jobs it pushes in all (whole number; no limit)
  # @end
  class NewSchedule
    FORMS = {
      # @schedule pattern: {name}: %r{\A{regex}\z},
      expression: %r{\A((CRON_)?TZ=[!-~]+ +)?(@[!-~]+( +[!-~]+)?|[!-~]+( +[!-~]+){4,5})\z},
      zone: %r{\A[A-Za-z0-9_+/-]+\z},
      # @end
    }.freeze
    WORDS = {
      # @schedule choice: {name}: [{quoted}],
      catch_up: ["last", "none", "all"],
      overlap: ["allow", "skip", "replace", "queue"],
      # @end
    }.freeze
    # Of each option its kind, its range, what is left out ("": only what nobody has said), and who has it.
    OPTIONS = {
      # @schedule option: {name}: [:{kind}, {least}, {most}, {usual}, :{owner}],
      at: [:expression, 1, 256, 0, :schedule],
      zone: [:zone, 1, 64, "", :schedule],
      catch_up: [:choice, 0, 0, "last", :schedule],
      overlap: [:choice, 0, 0, "allow", :schedule],
      spread: [:span, 0, 31536000, 0, :schedule],
      late: [:span, 0, 31536000, 60, :schedule],
      priority: [:rank, -100, 100, 0, :job],
      group: [:group, 1, 64, "", :job],
      expires_in: [:life, 1, 31536000, "", :job],
      from: [:start, 1e9, 1e11, "", :schedule],
      until: [:end, 1e9, 1e11, "", :schedule],
      limit: [:count, 1, 1000000000, "", :schedule],
      # @end
    }.freeze

    attr_reader :name

    def initialize(name, at, job, **options)
      unknown = options.keys.reject { |option| option != :at && OPTIONS.dig(option, 4) == :schedule }
      raise Refused, "no such option: #{unknown.join(" ")}" unless unknown.empty?

      NewJob.demand_label("name", @name = name)
      demand(job.is_a?(NewJob), "job: a NewJob", @job = job)
      @lines = lines({ schedule: { **options, at: at }, job: job.options })
      first, last = @lines.values_at(:from, :until)
      raise Refused, "until: #{last} is before its beginning" if first && last && last < first
    end

    # Returns how Redis keeps it: lines, in this order to the byte, and the document.
    # @private
    def definition
      "#{@lines.map { |tag, value| "#{tag}=#{value}\n" }.join}\n#{@job.scheduled_document}"
    end

    private

    def demand(so, text, value)
      raise Refused, "#{text}, not #{value.inspect[0, 80]}" unless so
    end

    # Returns the lines in their order, without what is the default.
    def lines(owners)
      OPTIONS.filter_map do |name, (kind, least, most, usual, owner)|
        next unless owners[owner].key?(name)

        value = owners[owner][name]
        value = checked(name, value, kind, least, most) unless value.nil? && usual == ""
        [name, value] unless value.nil? || value == usual
      end.to_h
    end

    def checked(name, value, kind, least, most)
      case kind
      when :expression
        demand(fits?(kind, value, most),
               "#{name}: five fields (minute hour day month weekday), six with the second first, or @hourly, @every 90s …", value)
      when :zone then demand(value == "" || fits?(kind, value, most), "#{name}: a time zone, such as Europe/Berlin", value)
      when :choice then demand(WORDS[name].include?(value), "#{name}: one of #{WORDS[name].join(", ")}", value)
      when :start then return instant(name, value, least, most).ceil # ticks are whole seconds
      when :end then return instant(name, value, least, most).floor
      when :group then value # the job's own check has seen it
      else return whole(name, value, kind, least, most)
      end
      value
    end

    def fits?(form, value, most)
      value.is_a?(String) && value.ascii_only? && value.size <= most && value.match?(FORMS[form])
    end

    def number?(value)
      value.is_a?(Numeric) && value.real? && value.to_f.finite?
    end

    def whole(name, value, kind, least, most)
      demand(number?(value) && value.to_i == value && value.between?(least, most),
             "#{name}: a whole number#{" of seconds" if %i[span life].include?(kind)} from #{least} to #{most}", value)
      value.to_i
    end

    def instant(name, value, least, most)
      value = value.to_r if value.is_a?(Time)
      demand(number?(value) && value >= least && value < most, "#{name}: a UNIX time, or a Time", value)
      value
    end
  end
end
