/**
 * Reads the command of a systemd unit, with the quotes, continued lines and environment variables
 * that unit files may contain (systemd.service(5), systemd.exec(5)).
 */
/** Reads an environment file. Returns undefined if the file does not exist. */
export type ReadEnvironment = (path: string) => string | undefined

/**
 * Returns the words of the last ExecStart line of a systemd unit. Returns an empty list if the unit
 * has no such line.
 */
export function readUnitCommand(text: string, readEnvironment: ReadEnvironment): readonly string[] {
  const settings = settingsOf(text)
  const command = settings.findLast(([name]) => name === 'ExecStart')?.[1] ?? ''
  const variables = new Map(
    settings.flatMap(([name, value]) => {
      if (name === 'Environment') return splitWords(value).map(assignmentOf)
      if (name !== 'EnvironmentFile') return []
      // A leading - means that the file may be missing.
      const content = readEnvironment(value.replace(/^-/, '')) ?? ''
      return [...content.matchAll(/^\s*([A-Za-z_]\w*=.*)$/gm)].map(([, line = '']) =>
        assignmentOf(splitWords(line).join(' ')),
      )
    }),
  )
  // Remove characters such as - and ! before the program. They change how systemd starts it.
  return splitWords(command.replace(/^[@:+!|-]+/, '')).flatMap((word) => expand(word, variables))
}

/** Returns the settings in order. A line that ends with a backslash continues on the next line. */
function settingsOf(text: string): readonly (readonly [name: string, value: string])[] {
  const lines = text.split('\n').filter((line) => !/^\s*[#;]/.test(line))
  const joined = lines.join('\n').replaceAll(/\\\n\s*/g, ' ')
  return [...joined.matchAll(/^\s*(\w+)\s*=\s*(.*?)\s*$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ])
}

/** Splits at white space, except within quotes. A backslash quotes the next character. */
function splitWords(text: string): readonly string[] {
  const word = /(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g
  const part = /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)|([^"'\\]+)/g
  return [...text.matchAll(word)].map(([whole]) =>
    whole.replaceAll(part, (_, double, single, escaped, plain) =>
      typeof double === 'string' ? double.replaceAll(/\\(.)/g, '$1') : (single ?? escaped ?? plain),
    ),
  )
}

function assignmentOf(word: string): readonly [name: string, value: string] {
  const at = word.indexOf('=')
  return [word.slice(0, at), word.slice(at + 1)]
}

/**
 * Replaces variables. If a word consists only of `$NAME`, it can become several words. `${NAME}`
 * never does.
 */
function expand(word: string, variables: ReadonlyMap<string, string>): readonly string[] {
  const [, whole] = /^\$([A-Za-z_]\w*)$/.exec(word) ?? []
  if (whole !== undefined) return splitWords(variables.get(whole) ?? '')
  return [word.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_, name) => variables.get(name) ?? '')]
}
