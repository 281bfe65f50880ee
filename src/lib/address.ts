/** Where a tunnel leads. */
export type Address = { readonly host: string; readonly port: number }
