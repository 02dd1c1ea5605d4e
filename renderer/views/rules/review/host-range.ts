/** Host names that differ only by a running number, in short: `oss02–12`, `oss02–04, oss07`. */
interface Named {
  readonly host: string
  readonly stem: string
  readonly digits: string
}

function split(host: string): Named {
  const m = /^(.*?)(\d+)$/.exec(host)
  return { host, stem: m?.[1] ?? host, digits: m?.[2] ?? '' }
}
const follows = (a: Named, b: Named): boolean =>
  a.digits !== '' &&
  a.stem === b.stem &&
  a.digits.length === b.digits.length &&
  Number(b.digits) === Number(a.digits) + 1

export function hostRange(hosts: readonly string[]): string {
  const runs: Named[][] = []
  for (const named of hosts.map(split)) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    if (run && last && follows(last, named)) run.push(named)
    else runs.push([named])
  }
  return runs
    .flatMap((run) => {
      const [first, last] = [run[0], run.at(-1)]
      if (!first || !last) return []
      return run.length < 3 ? run.map((n) => n.host) : [`${first.host}\u2013${last.digits}`]
    })
    .join(', ')
}
