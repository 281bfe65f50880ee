module keelson.test/cases

go 1.22

require github.com/keelson/keelson/clients/go v0.0.0

replace github.com/keelson/keelson/clients/go => ../../../../clients/go
