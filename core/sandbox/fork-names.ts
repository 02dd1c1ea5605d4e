/** Scenario names of hosts and targets: invalid ones are numbered, and only the console shows the real name. */

/** Returns a host name, or `fallback` if it is not valid. */
export function hostNameOf(name: string, fallback: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 63)
  return plain === '' ? fallback : plain
}

/** Maps real names to unique ones; valid names stay. */
export function uniqueNames(
  all: readonly string[],
  validName: (name: string, at: number) => string,
): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  const names = new Map<string, string>()
  all.forEach((name, i) => {
    if (names.has(name)) return
    const wanted = validName(name, i)
    let free = wanted
    for (let n = 2; taken.has(free); n++) free = `${wanted.slice(0, 30)}-${n}`
    taken.add(free)
    names.set(name, free)
  })
  return names
}

export const serverNames = (
  servers: readonly { readonly name: string; readonly kind: 'oss' | 'mds' }[],
): ReadonlyMap<string, string> =>
  uniqueNames(
    servers.map((s) => s.name),
    (name, i) => hostNameOf(name, `${servers[i]?.kind ?? 'oss'}${i + 1}`),
  )

export const targetNames = (names: readonly string[]): ReadonlyMap<string, string> =>
  uniqueNames(names, (name, i) => name.replace(/[^\w-]/g, '_').slice(-40) || `target${i + 1}`)
