/** Who is put under load: named servers, each with the process whose time and memory count. */

export type Target = {
  readonly name: string
  readonly server: string
  /** Without it there are no figures for CPU and memory. */
  readonly pid?: number
  readonly token?: string
}

/** Reads NAME=URL[,pid=N][,token=T]. */
export function parseTarget(text: string): Target {
  const [first = '', ...rest] = text.split(',')
  const [name = '', server = ''] = cut(first)
  if (name === '' || !URL.canParse(server)) throw new Error(`${text}: a target is NAME=URL[,pid=N][,token=T]`)
  return { name, server, ...parseDetails(rest, text) }
}

/** Reads URL[,pid=N]. */
export function parseEtcd(text: string): Target {
  const [server = '', ...rest] = text.split(',')
  if (!URL.canParse(server)) throw new Error(`${text}: etcd is given as URL[,pid=N]`)
  return { name: 'bare etcd', server, ...parseDetails(rest, text) }
}

function parseDetails(details: readonly string[], text: string): { pid?: number; token?: string } {
  const found: { pid?: number; token?: string } = {}
  for (const detail of details) {
    const [key, value] = cut(detail)
    if (key === 'pid' && Number.isInteger(Number(value))) found.pid = Number(value)
    else if (key === 'token' && value !== undefined) found.token = value
    else throw new Error(`${text}: '${detail}' is neither pid=N nor token=T`)
  }
  return found
}

/** At the first equals sign: a token may hold more of them. */
const cut = (text: string): string[] => text.split(/=(.*)/s, 2)
