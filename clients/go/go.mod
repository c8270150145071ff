module laterd

go 1.18

require github.com/gomodule/redigo v1.8.3
