/** What types and their fields are for, in a few words: what `kubectl explain` shows. */
export const describe = (_type: string, _field?: string): string | undefined => undefined
