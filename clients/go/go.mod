module github.com/keelson/keelson/clients/go

go 1.22
