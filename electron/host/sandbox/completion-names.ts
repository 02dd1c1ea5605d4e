/** Names that a scenario defines and refers to in other parts. */
import type { Document } from 'yaml'

interface Option {
  readonly label: string
  readonly detail: string
  readonly apply: string
}

const NAMES_MAX = 200
const POLICIES = ['fifo', 'tbf jobid', 'tbf nid', 'tbf opcode', 'tbf jobid+opcode', 'tbf uid', 'tbf'] as const
const RELEASES = ['2.12.9', '2.15.8', '2.16.1', '2.17.0', '2.17.57'] as const

/** Kind of names that a key refers to. */
const REFERENCES: Readonly<Record<string, 'targets' | 'servers' | 'jobs' | 'files'>> = {
  targets: 'targets',
  target: 'targets',
  servers: 'servers',
  server: 'servers',
  mounted_on: 'servers',
  job: 'jobs',
  file: 'files',
}

/** Quotes a name only if YAML would not read it as the same text. */
const quoted = (name: string): string =>
  /^[A-Za-z][\w.-]*$/.test(name) && !/^(true|false|null|yes|no|on|off)$/i.test(name) ? name : JSON.stringify(name)

export function namesIn(document: Document.Parsed, path: readonly (string | number)[]): Option[] {
  const key = path.findLast((p) => typeof p === 'string')
  if (key === undefined) return []
  const fixed = key === 'policy' ? POLICIES : key === 'version' ? RELEASES : undefined
  if (fixed) return fixed.map((label) => ({ label, detail: '', apply: label }))
  const kind = Object.hasOwn(REFERENCES, key) ? REFERENCES[key] : undefined
  // ccPFS servers are defined there, not referred to.
  if (!kind || (path[0] === 'ccpfs' && kind === 'servers')) return []
  return listed(document, kind)
    .slice(0, NAMES_MAX)
    .map(([label, detail]) => ({ label, detail, apply: quoted(label) }))
}

function listed(document: Document.Parsed, kind: 'targets' | 'servers' | 'jobs' | 'files'): [string, string][] {
  const at = (path: readonly string[]): unknown => {
    try {
      const node: unknown = document.getIn(path, true)
      return typeof node === 'object' && node !== null && 'toJSON' in node
        ? (node as { toJSON(): unknown }).toJSON()
        : undefined
    } catch {
      return undefined
    }
  }
  const list = (value: unknown): Record<string, unknown>[] =>
    Array.isArray(value) ? value.filter((v): v is Record<string, unknown> => typeof v === 'object' && v !== null) : []
  const named = (items: readonly Record<string, unknown>[], field: string, detail: string): [string, string][] =>
    items.flatMap((i) =>
      typeof i[field] === 'string' && i[field] !== '' ? [[i[field], detail] as [string, string]] : [],
    )
  const oss = list(at(['oss']))
  const mds = list(at(['mds']))
  if (kind === 'jobs') return named(list(at(['jobs'])), 'id', 'a job')
  if (kind === 'files') return named(list(at(['ccpfs', 'files'])), 'name', 'a file')
  if (kind === 'servers') return [...named(oss, 'name', 'OSS'), ...named(mds, 'name', 'MDS')]
  return [
    ...oss.flatMap((o) => named(list(o['osts']), 'name', `OST of ${String(o['name'])}`)),
    ...mds.flatMap((m) => named(list(m['mdts']), 'name', `MDT of ${String(m['name'])}`)),
  ]
}
