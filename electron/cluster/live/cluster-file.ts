/**
 * Clusters as they are written down: `sluice --config FILE`, and the console's own file in the data folder, which has the same form.
 *
 * ```yaml
 * clusters:
 *   - name: altair
 *     env: PROD
 *     nodes:
 *       - { host: "oss[01-12]", user: ops, identity: ~/.ssh/id_altair, roles: [oss], jump: login1.hpc }
 * ```
 */
import { readFileSync } from 'node:fs'
import { parseDocument, stringify } from 'yaml'
import * as z from 'zod'
import { clusterInput, clusterName, probeId, safeMode, serverRole, type ClusterInput } from '#core/api/clusters.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { writeWhole } from '../../files/whole-file.ts'
import { expandHosts } from './host-range.ts'

const FILE_BYTES = 1 << 20
const CLUSTERS = 64

const node = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,63}$/)
    .nullish(),
  host: z.string().min(1).max(253),
  port: z.number().int().min(1).max(65535).nullish(),
  user: z.string().max(64).nullish(),
  identity: z.string().max(1024).nullish(),
  roles: z.array(serverRole).max(5).nullish(),
  jump: z.string().max(1024).nullish(),
})
const cluster = z.strictObject({
  name: clusterName,
  env: z.enum(['PROD', 'STAGE', 'DEV']).nullish(),
  safe_mode: safeMode.nullish(),
  interval_ms: z.number().int().min(200).max(60_000).nullish(),
  core_share: z.number().min(0.01).max(1).nullish(),
  max_rate: z.number().int().min(1).max(999_999).nullish(),
  off: z.array(probeId).max(6).nullish(),
  nodes: z.array(node).min(1).max(512),
})
const file = z.strictObject({ clusters: z.array(cluster).max(CLUSTERS) })

const unreadable = (path: string, why: string): { readonly ok: false; readonly error: Failure } =>
  fail({
    code: 'CLUSTERS_UNREADABLE',
    what: `The clusters in ${path} cannot be read`,
    why,
    unaffected: 'The file was not changed.',
    next: 'Correct it, or name another file with --config.',
  })

/**
 * Reads the text of a cluster file. A range of hosts (`oss[01-12]`) becomes one server each.
 *
 * @param path  for messages. Failures: CLUSTERS_UNREADABLE, with the line where it is known.
 */
export function parseClusters(text: string, path: string): Result<ClusterInput[]> {
  const document = parseDocument(text, { prettyErrors: true })
  const error = document.errors[0]
  if (error) return unreadable(path, error.message.split('\n')[0] ?? 'it is not YAML')
  let content: unknown
  try {
    // An alias may stand for a great deal of text: there are none in such a file.
    content = document.toJS({ maxAliasCount: 0 })
  } catch (e) {
    return unreadable(path, e instanceof Error ? e.message : 'it has an alias')
  }
  const parsed = file.safeParse(content)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    const where = issue && issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''
    return unreadable(path, `${where}${issue?.message ?? 'it has another form'}`)
  }
  const out: ClusterInput[] = []
  for (const c of parsed.data.clusters) {
    if (out.some((o) => o.name === c.name)) return unreadable(path, `there are two clusters called ${c.name}`)
    const servers: ClusterInput['servers'] = []
    for (const n of c.nodes) {
      const hosts = expandHosts(n.host)
      if (!hosts.ok) return unreadable(path, `${c.name}: ${hosts.error.why ?? hosts.error.what}`)
      for (const host of hosts.value) {
        servers.push({
          ...{
            name: hosts.value.length === 1 ? (n.name ?? '') : '',
            host,
            port: n.port ?? null,
            user: n.user ?? '',
            identity: n.identity ?? '',
          },
          ...{ jump: n.jump ?? null, roles: n.roles ?? [] },
        })
      }
    }
    const checked = clusterInput.safeParse({
      name: c.name,
      env: c.env ?? 'PROD',
      servers,
      ...(c.safe_mode ? { safeMode: c.safe_mode } : {}),
      ...(c.interval_ms ? { intervalMs: c.interval_ms } : {}),
      ...(c.core_share ? { coreShare: c.core_share } : {}),
      ...(c.max_rate ? { maxRate: c.max_rate } : {}),
      ...(c.off ? { off: c.off } : {}),
    })
    if (!checked.success)
      return unreadable(path, `${c.name}: ${checked.error.issues[0]?.message ?? 'it has another form'}`)
    out.push(checked.data)
  }
  return ok(out)
}

/** Reads a cluster file; one that is not there has no clusters where `mayBeAbsent`. */
export function readClusters(path: string, mayBeAbsent = false): Result<ClusterInput[]> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (e) {
    if (mayBeAbsent && e instanceof Error && 'code' in e && e.code === 'ENOENT') return ok([])
    return unreadable(path, e instanceof Error ? e.message : String(e))
  }
  if (text.length > FILE_BYTES) return unreadable(path, `it has more than ${FILE_BYTES} bytes`)
  return parseClusters(text, path)
}

/** Clusters as the text of such a file. */
export const printClusters = (clusters: readonly ClusterInput[]): string =>
  stringify({
    clusters: clusters.map((c) => ({
      ...{
        name: c.name,
        env: c.env,
        safe_mode: c.safeMode,
        interval_ms: c.intervalMs,
        ...(c.coreShare === undefined ? {} : { core_share: c.coreShare }),
        max_rate: c.maxRate,
        off: c.off,
      },
      nodes: c.servers.map((s) => ({
        ...(s.name === '' ? {} : { name: s.name }),
        host: s.host,
        ...(s.port === null ? {} : { port: s.port }),
        ...(s.user === '' ? {} : { user: s.user }),
        ...(s.identity === '' ? {} : { identity: s.identity }),
        ...(s.roles.length === 0 ? {} : { roles: s.roles }),
        ...(s.jump === null ? {} : { jump: s.jump }),
      })),
    })),
  })

/** Writes the file whole or not at all, for its owner only. Failure: CLUSTERS_NOT_WRITTEN. */
export function writeClusters(path: string, clusters: readonly ClusterInput[]): Result<undefined> {
  try {
    writeWhole(path, printClusters(clusters))
    return ok(undefined)
  } catch (e) {
    return fail({
      code: 'CLUSTERS_NOT_WRITTEN',
      what: 'The cluster was not written down',
      why: e instanceof Error ? e.message : String(e),
      unaffected: 'What was there before stands.',
      next: 'Free space in the data folder and save it again.',
    })
  }
}
