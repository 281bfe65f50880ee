package keelsontesting

// Version is the version of this module. It equals the version of Keelson that the module is
// released with.
const Version = "0.1.0"
