/** Texts of a cluster card; text from servers is escaped here. */
import type { ClusterCard, SafeMode, ServerCard } from '#core/api/clusters.ts'
import type { Level } from '#core/api/frames.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatCountdown, formatNumber } from '../../format/units.ts'
import { shortPrint } from './fingerprint.ts'
import { hostNames } from './server-tree.ts'

export interface Fact {
  readonly name: string
  readonly text: string
  /** Full text, where `text` is shortened. */
  readonly title: string
  readonly level: Level
  readonly isMono: boolean
}

const unique = (values: readonly string[]): string[] => [...new Set(values.filter((v) => v !== ''))]
/** The distinct values of servers: the first `most`, and the number of the rest. */
function common(values: readonly string[], most = 2): string {
  const found = unique(values)
  const rest = found.length - most
  return found.slice(0, most).join(', ') + (rest > 0 ? ` +${rest}` : '')
}
const weight: Readonly<Record<Level, number>> = { ok: 0, idle: 0, unknown: 1, watch: 2, bad: 3 }

/** Server that represents the cluster: the MGS, else the first. */
const foremost = (servers: readonly ServerCard[]): ServerCard | undefined =>
  servers.find((s) => s.roles.includes('mgs')) ?? servers[0]

function keyFacts(servers: readonly ServerCard[]): Fact[] {
  const keys = servers.flatMap((s) => (s.key ? [s.key] : []))
  const first = foremost(servers)?.key ?? keys[0]
  if (!first) return []
  const open = keys.filter((k) => k.verdict !== 'match')
  const refused = open.filter((k) => !k.isOpen)
  const level = refused.length > 0 ? 'bad' : open.length > 0 ? 'watch' : 'ok'
  const trustText =
    refused.length > 0
      ? `${refused.length} refused: ${common(refused.map((k) => k.verdict))}`
      : open.length > 0
        ? `${open.length} of ${keys.length} need approval`
        : common(
            keys.map((k) => k.why),
            1,
          )
  return [
    {
      name: 'Host key',
      level: 'ok',
      isMono: true,
      title: keys.map((k) => `${k.host} ${k.fingerprint}`).join('\n'),
      text: shortPrint(first.fingerprint) + (keys.length > 1 ? ` +${keys.length - 1}` : ''),
    },
    {
      name: 'Trusted',
      text: trustText,
      level,
      isMono: false,
      title: unique(keys.map((k) => `${k.host}: ${k.why}`)).join('\n'),
    },
  ]
}
function lustreText(servers: readonly ServerCard[]): string {
  const cpts = unique(servers.map((s) => (s.cpts === null ? '' : String(s.cpts))))
  // Name of the policy only; its arguments are shown with the server.
  const policies = unique(servers.map((s) => s.policy.split(' ')[0] ?? ''))
  return [common(servers.map((s) => s.version)), cpts.length === 0 ? '' : `${cpts.join(', ')} CPT`, policies.join(', ')]
    .filter((part) => part !== '')
    .join(' \u00B7 ')
}

function rateFacts(rate: ClusterCard['rate']): Fact[] {
  if (!rate) return []
  const text = `${formatNumber(rate.perOst)} RPC/s${rate.isGuess ? ', a guess' : ''}`
  const title = rate.isGuess
    ? 'Token rate of one OST, not set: controllers and utilization rely on a guess. Edit the cluster to set it.'
    : 'Token rate of one OST, as set: the budget of controllers, and 100 % utilization'
  return [{ name: 'OST rate T', text, title, level: rate.isGuess ? 'watch' : 'ok', isMono: false }]
}

export function factsOf({ servers, rate }: ClusterCard): Fact[] {
  const sudo = servers.reduce<ServerCard['sudo'] | null>(
    (worst, { sudo: s }) => (s.text !== '' && (worst === null || weight[s.level] > weight[worst.level]) ? s : worst),
    null,
  )
  const logins = unique(servers.map((s) => s.login))
  const lustre = lustreText(servers)
  const versions = unique(servers.map((s) => (s.version === '' ? '' : `${s.host}: ${s.version}, ${s.policy}`)))
  const plain = { level: 'ok' as Level, isMono: false }
  return [
    ...keyFacts(servers),
    ...(logins.length > 0 ? [{ ...plain, name: 'Login', text: common(logins, 1), title: logins.join('\n') }] : []),
    ...(sudo ? [{ ...plain, name: 'sudo', text: sudo.text, title: sudo.text, level: sudo.level }] : []),
    ...(lustre === '' ? [] : [{ ...plain, name: 'Lustre', text: lustre, title: versions.join('\n') }]),
    ...rateFacts(rate),
  ].map((fact) => ({ ...fact, text: plainText(fact.text) }))
}

/** Servers with a root login. */
export const rootLogins = ({ servers }: ClusterCard): string[] =>
  servers.filter((s) => s.sudo.kind === 'root').map((s) => s.host)

/** Description of the switch for root logins. */
export const rootText = (card: ClusterCard): string =>
  card.input?.allowRoot
    ? 'root logins can write'
    : rootLogins(card).length > 0
      ? 'root login: writes are disabled'
      : 'requires a dedicated login with sudo'

export const safeModeLabels: Readonly<Record<SafeMode, { readonly label: string; readonly does: string }>> = {
  'read-only': { label: 'Read-only', does: 'rules cannot be written' },
  review: { label: 'Review', does: 'commands are reviewed before each write' },
  'review+unlock': { label: 'Review and unlock', does: 'as Review, unlocked for 15 minutes at a time' },
}

const modeNames = { observe: 'Observe', advise: 'Advise', enforce: 'Enforce' } as const
/** Mode chip of a card, e.g. `Enforce 08:11 left`; level `watch` while it can write. */
export function modeStatus(card: ClusterCard, nowMs: number): { text: string; level: Level | null; title: string } {
  const { mode, safeMode, unlockedUntilMs } = card
  const leftMs = unlockedUntilMs === null ? 0 : unlockedUntilMs - nowMs
  const isOpen = safeMode === 'review+unlock' && leftMs > 0
  const left = isOpen ? ` ${formatCountdown(leftMs)} left` : ''
  const { label, does } = safeModeLabels[safeMode]
  return {
    text: `${modeNames[mode]}${left}`,
    level: mode === 'enforce' || isOpen ? 'watch' : null,
    title: `Mode ${modeNames[mode]}. Safe mode ${label.toLowerCase()}: ${does}.`,
  }
}

/** Total cost of the enabled probes. */
export function costText({ probes }: ClusterCard): string {
  const on = probes.filter((p) => p.on)
  if (on.length === 0) return ''
  const sum = (of: (p: (typeof on)[number]) => number): number => on.reduce((all, p) => all + of(p), 0)
  const kb = sum((p) => p.bytesPerSec) / 1000
  const hasCpu = on.every((p) => p.serverCpuMsPerSec !== null)
  const ms = sum((p) => (hasCpu ? (p.serverCpuMsPerSec ?? 0) : p.serverMsPerSec))
  return `${formatNumber(kb, kb < 10 ? 1 : 0)} KB/s \u00B7 ${formatNumber(ms, 1)} ms${hasCpu ? ' CPU' : ''}/s`
}

/** Time to the next automatic retry of a server; empty if none is scheduled. */
export function retryText(server: ServerCard, nowMs: number): string {
  if (server.retryAtMs === null) return ''
  const left = server.retryAtMs - nowMs
  return left <= 0 ? 'retrying now' : `retry in ${formatCountdown(left)}`
}

/** Leftovers, worst first: without a timer, then overdue, then by remaining time. */
export const leftoversOf = (card: ClusterCard): ClusterCard['leftovers'] =>
  [...card.leftovers].sort((a, b) => {
    const rank = ({ timer, expiresMs }: ClusterCard['leftovers'][number]): number =>
      timer === '' ? -Infinity : (expiresMs ?? -1)
    return rank(a) - rank(b) || a.host.localeCompare(b.host, 'en', { numeric: true })
  })

export interface Remark {
  readonly key: string
  readonly text: string
}
const bare = (text: string): string => text.trim().replace(/\.$/, '')

/**
 * Notices of a cluster, one sentence each; servers with the same notice are merged into one with their names. A fix of
 * several lines is left to the checklist, where it can be copied.
 */
export function remarksOf({ notices, servers }: ClusterCard): Remark[] {
  const found = new Map<string, { hosts: string[]; text: string }>()
  for (const { code, what, why, next } of notices) {
    const host = servers.find((s) => what.startsWith(`${s.host}: `))?.host
    const said = host === undefined ? what : what.slice(host.length + 2)
    const ask = next?.includes('\n') ? 'Test shows the fix' : next
    const text = [said, why, ask].flatMap((part) => (part ? [bare(part)] : [])).join('. ')
    const one = found.get(`${code} ${text}`) ?? { hosts: [], text: `${text}.` }
    if (host !== undefined) one.hosts.push(host)
    found.set(`${code} ${text}`, one)
  }
  return [...found].map(([key, { hosts, text }]) => ({
    key,
    text: hosts.length === 0 ? text : `${hostNames([...new Set(hosts)])}: ${text}`,
  }))
}
