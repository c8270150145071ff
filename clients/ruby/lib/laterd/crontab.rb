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
  #   zone: Europe/Berlin (without it UTC)
  #   catch_up: of the ticks missed while no host was up the last, none, all (last)
  #   overlap: if the last job has not ended: allow another, skip, replace, queue (allow)
  #   spread: jobs are spread over so long after their ticks (whole seconds, 0)
  #   late: a tick that is later is missed (whole seconds, 60)
  #   from, until: no tick before, no tick after (UNIX seconds, or a Time)
  #   limit: how many jobs in all (whole number)
  class NewSchedule
    AT = /\A((CRON_)?TZ=[!-~]+ +)?(@[!-~]+( +[!-~]+)?|[!-~]+( +[!-~]+){4,5})\z/.freeze
    AT_MAX = 256 # bytes
    ZONE = %r{\A[A-Za-z0-9_+/-]{0,64}\z}.freeze
    CATCH_UP = %w[last none all].freeze
    OVERLAP = %w[allow skip replace queue].freeze
    SPAN_MAX = 31_536_000 # of spread, late and expires_in, seconds
    LIMIT_MAX = 10**9
    TIMES = (1e9...1e11).freeze
    # What stands for the same as nothing, and is left out.
    UNSAID = { zone: "", catch_up: "last", overlap: "allow", spread: 0, late: 60, priority: 0 }.freeze

    attr_reader :name

    def initialize(name, at, job, zone: nil, catch_up: "last", overlap: "allow", spread: 0, late: 60, from: nil, until: nil,
                   limit: nil)
      NewJob.demand_label("name", @name = name)
      demand(job.is_a?(NewJob), "job: a NewJob", @job = job)
      @lines = {
        at: expression(at), zone: zone_of(zone), catch_up: one_of("catch_up", CATCH_UP, catch_up),
        overlap: one_of("overlap", OVERLAP, overlap), spread: span("spread", spread, 0), late: span("late", late, 0),
        priority: job.options[:priority], group: job.options[:group],
        expires_in: job.options[:expires_in] && span("expires_in", job.options[:expires_in], 1),
        from: instant("from", from)&.ceil, until: instant("until", binding.local_variable_get(:until))&.floor,
        limit: limit && whole("limit", limit, LIMIT_MAX)
      }
      first, last = @lines.values_at(:from, :until)
      raise Refused, "until: #{last} is before its beginning" if first && last && last < first
    end

    # Returns how Redis keeps it: lines, in this order to the byte, and the document.
    # @private
    def definition
      said = @lines.reject { |tag, value| value.nil? || value == UNSAID[tag] }
      "#{said.map { |tag, value| "#{tag}=#{value}\n" }.join}\n#{@job.scheduled_document}"
    end

    private

    def demand(so, text, value)
      raise Refused, "#{text}, not #{value.inspect[0, 80]}" unless so
    end

    def fits?(value, pattern)
      value.is_a?(String) && value.ascii_only? && value.match?(pattern)
    end

    def expression(at)
      demand(fits?(at, AT) && at.size <= AT_MAX,
             "at: five fields (minute hour day month weekday), six with the second first, or @hourly, @every 90s …", at)
      at
    end

    def zone_of(zone)
      demand(zone.nil? || fits?(zone, ZONE), "zone: a time zone, such as Europe/Berlin", zone)
      zone
    end

    def one_of(name, words, word)
      demand(words.include?(word), "#{name}: one of #{words.join(", ")}", word)
      word
    end

    def number?(value)
      value.is_a?(Numeric) && value.real? && value.to_f.finite?
    end

    def span(name, value, least)
      demand(number?(value) && value.to_i == value && value.between?(least, SPAN_MAX),
             "#{name}: whole seconds, from #{least} to #{SPAN_MAX}", value)
      value.to_i
    end

    def whole(name, value, most)
      demand(value.is_a?(Integer) && value.between?(1, most), "#{name}: a whole number from 1 to #{most}", value)
      value
    end

    # Ticks are whole seconds: what has a fraction is rounded into the span.
    def instant(name, value)
      value = value.to_r if value.is_a?(Time)
      demand(value.nil? || number?(value) && TIMES.cover?(value), "#{name}: a UNIX time, or a Time", value)
      value
    end
  end
end
