/**
 * File of clusters: `sluice --config FILE`, and the console's own file in the data folder, which has the same form.
 *
 * ```yaml
 * clusters:
 *   - name: altair
 *     env: PROD
 *     allow_root: true  # only where a login as root may write
 *     nodes:
 *       - { host: "oss[01-12]", user: ops, identity: ~/.ssh/id_altair, roles: [oss], jump: login1.hpc }
 * ```
 */
import { readFileSync } from 'node:fs'
import { parseDocument, stringify } from 'yaml'
import * as z from 'zod'
import {
  clusterInput,
  clusterName,
  controlMs,
  OST_RATE_MAX,
  probeId,
  safeMode,
  serverRole,
  type ClusterInput,
} from '#core/api/clusters.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { expandHostName, splitHostList } from '#core/base/host-list.ts'
import { writeFileAtomic } from '../../files/atomic-file.ts'

const HOSTS = 512

const refuse = (text: string, why: string): Result<never> =>
  fail({ code: 'HOST_RANGE', what: `${text.slice(0, 80)} does not name servers`, why: `${text.slice(0, 80)}: ${why}` })

/**
 * Expands ranges of host names as admins write them, `oss[01-12]`, `oss[1,3,7-9].hpc`, with commas between names; in
 * order, at most 512. Failure: HOST_RANGE.
 */
export function expandHosts(text: string): Result<string[]> {
  const hosts = splitHostList(text)
    .map((host) => host.trim())
    .filter((host) => host !== '')
  const out: string[] = []
  for (const host of hosts) {
    const names = expandHostName(host, HOSTS)
    if ('reason' in names) {
      if (names.reason === 'count') return refuse(text, `more than ${HOSTS} servers`)
      return refuse(text, `${names.piece.slice(0, 40)} is not a range; \`[01-12]\` and \`[1,3,7-9]\` are`)
    }
    out.push(...names)
    if (out.length > HOSTS) return refuse(text, `more than ${HOSTS} servers`)
  }
  return out.length === 0 ? refuse(text, 'it is empty') : ok(out)
}

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
  roles: z.array(serverRole).max(serverRole.options.length).nullish(),
  jump: z.string().max(1024).nullish(),
})
const cluster = z.strictObject({
  name: clusterName,
  env: z.enum(['PROD', 'STAGE', 'DEV']).nullish(),
  safe_mode: safeMode.nullish(),
  allow_root: z.boolean().nullish(),
  interval_ms: z.number().int().min(100).max(60_000).nullish(),
  control_ms: controlMs.nullish(),
  core_share: z.number().min(0.01).max(1).nullish(),
  max_rate: z.number().int().min(1).max(OST_RATE_MAX).nullish(),
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
    next: 'Correct it, and try again.',
  })

/**
 * Parses a cluster file. A range of hosts (`oss[01-12]`) becomes one server each.
 *
 * @param path  for messages. Failures: CLUSTERS_UNREADABLE, with the line if known.
 */
export function parseClusters(text: string, path: string): Result<ClusterInput[]> {
  const document = parseDocument(text, { prettyErrors: true })
  const error = document.errors[0]
  if (error) return unreadable(path, error.message.split('\n')[0] ?? 'it is not YAML')
  let content: unknown
  try {
    // An alias may expand to a huge text: they are not allowed in such a file.
    content = document.toJS({ maxAliasCount: 0 })
  } catch (e) {
    return unreadable(path, e instanceof Error ? e.message : 'it has an alias')
  }
  const parsed = file.safeParse(content)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    const where = issue && issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''
    return unreadable(path, `${where}${issue?.message ?? 'its format is not valid'}`)
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
          name: hosts.value.length === 1 ? (n.name ?? '') : '',
          host,
          port: n.port ?? null,
          user: n.user ?? '',
          identity: n.identity ?? '',
          jump: n.jump ?? null,
          roles: n.roles ?? [],
        })
      }
    }
    const checked = clusterInput.safeParse({
      name: c.name,
      env: c.env ?? 'PROD',
      servers,
      ...(c.safe_mode ? { safeMode: c.safe_mode } : {}),
      allowRoot: c.allow_root ?? false,
      ...(c.interval_ms ? { intervalMs: c.interval_ms } : {}),
      ...(c.control_ms ? { controlMs: c.control_ms } : {}),
      ...(c.core_share ? { coreShare: c.core_share } : {}),
      ...(c.max_rate ? { maxRate: c.max_rate } : {}),
      ...(c.off ? { off: c.off } : {}),
    })
    if (!checked.success)
      return unreadable(path, `${c.name}: ${checked.error.issues[0]?.message ?? 'its format is not valid'}`)
    out.push(checked.data)
  }
  return ok(out)
}

/** Reads a cluster file; a missing one has no clusters if `mayBeAbsent`. */
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

/** Text of a cluster file. */
export const printClusters = (clusters: readonly ClusterInput[]): string =>
  stringify({
    clusters: clusters.map((c) => ({
      name: c.name,
      env: c.env,
      safe_mode: c.safeMode,
      interval_ms: c.intervalMs,
      ...(c.controlMs === undefined ? {} : { control_ms: c.controlMs }),
      ...(c.coreShare === undefined ? {} : { core_share: c.coreShare }),
      ...(c.maxRate === null ? {} : { max_rate: c.maxRate }),
      off: c.off,
      ...(c.allowRoot ? { allow_root: true } : {}),
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

/** Replaces the file atomically, readable by its owner only. Failure: CLUSTERS_NOT_WRITTEN. */
export function writeClusters(path: string, clusters: readonly ClusterInput[]): Result<undefined> {
  try {
    writeFileAtomic(path, printClusters(clusters))
    return ok(undefined)
  } catch (e) {
    return fail({
      code: 'CLUSTERS_NOT_WRITTEN',
      what: 'The cluster was not saved',
      why: e instanceof Error ? e.message : String(e),
      unaffected: 'The previous file is unchanged.',
      next: 'Free space in the data folder and save it again.',
    })
  }
}
