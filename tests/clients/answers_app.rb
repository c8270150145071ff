# answers_app.rb: for handlers_answers.sh, in the place of perform in Ruby's template.

ODD = { "big" => 12_345_678_901_234_567_890, "no JSON" => [Time.now], "nan" => Float::NAN, "infinite" => [-Float::INFINITY], "half" => "a\xf0b", "nul" => "a\0b",
        "half and nul" => "a\0b\xf0c" }.freeze

def made(what)
  return what unless what.is_a?(Hash)
  return "x" * what["text"] if what["text"]

  value = what["odd"] ? ODD[what["odd"]] : what["json"]
  (what["levels"] || 0).times { |n| value = n.zero? ? [] : [value] }
  value
end

def perform(job)
  File.write(ENV["NOTES"], "#{job["id"]} #{job["type"]} #{$$} #{Time.now.to_f}\n", mode: "a")
  does, what = job["document"]["payload"]
  what = made(what)
  case does
  when "return" then what
  when "throw" then raise what
  when "bury" then raise Bury, what
  when "exit" then exit 3
  when "print" then puts "printed by #{job["id"]}."
  end
end
