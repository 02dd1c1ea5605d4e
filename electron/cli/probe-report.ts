/** Report of `sluice probe` for one host: a JSON line, or text lines. */
import type { CheckStep } from '#core/api/clusters.ts'
import { formatFailure, type Failure } from '#core/base/result.ts'
import { primaryPolicy } from '#core/lustre/nrs-policies.ts'
import type { LiveServer } from '../cluster/live/live-server.ts'
import type { NodeFacts } from '../cluster/remote/facts.ts'
import type { ReadingCost } from '../cluster/discovery/reading-cost.ts'
import { plain } from './output.ts'

export interface Probed {
  readonly server: LiveServer
  readonly facts: NodeFacts | undefined
  readonly costs: readonly ReadingCost[]
  /** Reason why the server cannot be read; undefined if it can. */
  readonly failure: Failure | undefined
}

/** Text that describes the measurement of CPU time. */
const CPU_METHOD =
  'difference of /proc/PID/stat (utime stime cutime cstime) of the login shell around the runs, over their number; sshd is not in it'

const round = (v: number, digits = 2): number => Number(v.toFixed(digits))

function costJson(c: ReadingCost): object {
  return {
    role: c.role,
    command: c.command,
    runs: c.runs,
    exit: c.code,
    bytes: c.bytes,
    ms: round(c.ms),
    cpu_ms: c.cpuMs === undefined ? null : round(c.cpuMs),
    cpu_step_ms: round(c.cpuStepMs),
    cpu_how: CPU_METHOD,
  }
}

function connectionJson({ server }: Probed): object {
  const { state, address } = server
  const way = 'code' in address ? { address: null, via: null } : { address: address.text, via: address.via || null }
  if (state.kind !== 'connected') return way
  const { hostKey, negotiated, software, commands, offered } = state.connected
  return {
    ...way,
    host_key: { type: hostKey.type, fingerprint: hostKey.fingerprint, known_from: hostKey.known[0]?.where ?? null },
    ssh: software,
    algorithms: negotiated,
    strict_kex: negotiated.isStrict,
    keys_offered: offered,
    channel: commands.mode === 'channel' ? 'framed' : `one by one: ${commands.why}`,
  }
}

function factsJson(f: NodeFacts): object {
  const { kind, text, watch, helper, lctl } = f.sudo
  return {
    hostname: f.hostname,
    user: f.user,
    sudo: { kind, text, watch, helper: helper || null, lctl },
    version: f.version ? f.versionText : null,
    version_text: f.versionText,
    lctl: f.lctl,
    roles: f.roles,
    targets: f.targets,
    expected_targets: f.expected,
    services: f.services.map((s) => ({
      service: s.service,
      policies: s.policies,
      reads_rules: s.readsRules,
      rules: s.rules,
      policy: policyText(s.policies),
    })),
    cpts: f.cpts ?? null,
    jobid: f.jobid ?? null,
    timers: f.timers,
    clock_skew_ms: f.clockSkewMs ?? null,
    round_trip_ms: round(f.roundTripMs),
  }
}

function policyText(policies: NodeFacts['services'][number]['policies']): string {
  const p = primaryPolicy(policies, 'reg')
  return p ? `${p.name}${p.arg === '' ? '' : ` ${p.arg}`}` : ''
}

const stepJson = ({ id, state, command, tookMs, detail, fix }: CheckStep): object => ({
  id,
  state,
  command,
  ms: tookMs === null ? null : round(tookMs),
  detail,
  fix,
})

/** Formats the JSON line of one host. */
export function probedJson(p: Probed): string {
  const { failure } = p
  const { code, what, why, next } = failure ?? {}
  return JSON.stringify({
    host: p.server.host,
    ok: failure === undefined,
    ...connectionJson(p),
    ...(p.facts ? factsJson(p.facts) : {}),
    cost: p.costs.map(costJson),
    steps: p.server.steps.map(stepJson),
    ...(failure ? { error: { code, what, why: why ?? null, next: next ?? null } } : {}),
  })
}

const STATE_LABELS: Readonly<Record<CheckStep['state'], string>> = {
  ok: 'ok',
  watch: 'look',
  bad: 'FAILED',
  now: '...',
  next: '',
  you: 'YOU',
  skipped: '-',
}

/** Formats a step that began: its command, before the answer. */
export const beganLine = (host: string, s: CheckStep, command: string): string =>
  `${host}  ${''.padEnd(7)}${s.id.padEnd(9)}$ ${plain(command)}`

/** Formats a step that ended, with the remedy if it failed. */
export function endedLines(host: string, s: CheckStep): string[] {
  const time = s.tookMs === null ? ''.padStart(9) : `${s.tookMs.toFixed(0).padStart(6)} ms`
  const head = `${host}  ${STATE_LABELS[s.state].padEnd(7)}${s.id.padEnd(9)}${time}  ${plain(s.detail)}`
  const isLong = s.fix.includes('\n')
  const fix =
    s.fix === '' ? [] : s.fix.split('\n').map((l) => `${isLong ? '    ' : `${host}  ${''.padEnd(27)}`}${plain(l)}`)
  return [head.trimEnd(), ...fix]
}

/** Formats the findings after the checklist. */
export function foundLines({ server: { host }, facts, costs, failure }: Probed): string[] {
  const put = (name: string, value: string): string => `${host}  ${name.padEnd(14)}${plain(value)}`
  const lines = facts
    ? [
        put('version', facts.version ? facts.versionText : 'not known'),
        put('roles', facts.roles.join(', ') || 'none'),
        put('targets', facts.targets.join(', ') || 'none'),
        ...facts.services.map((s) => put(s.service, `${policyText(s.policies)}; ${rulesText(s)}`)),
        put('cpts', facts.cpts === undefined ? 'not known' : String(facts.cpts)),
        put('sudo', `${facts.sudo.kind}: ${facts.sudo.text}`),
        put('timers', facts.timers),
      ]
    : []
  const cost = costs.map((c) => {
    const cpu =
      c.cpuMs === undefined ? 'CPU not known' : `${c.cpuMs.toFixed(1)} ms CPU (in steps of ${c.cpuStepMs.toFixed(1)})`
    return put('reading', `${c.role}: ${c.bytes} bytes, ${c.ms.toFixed(1)} ms, ${cpu}, of ${c.runs} readings`)
  })
  return [...lines, ...cost, ...(failure ? [put('FAILED', formatFailure(failure))] : [])]
}

function rulesText({ policies, readsRules, rules }: NodeFacts['services'][number]): string {
  if (!policies.some((p) => p.name === 'tbf' && p.state !== 'stopped')) return 'no rules: tbf is not running'
  if (!readsRules) return 'rules not readable'
  const names = [...new Map(rules.map((r) => [r.name, `${r.name} ${r.conditions} ${r.rate}`])).values()]
  return names.length <= 8 ? names.join(', ') : `${names.length} rules`
}

/** Targets registered with an MGS that none of these hosts serves. */
export function missingTargets(all: readonly Probed[]): readonly string[] {
  const served = new Set(all.flatMap((p) => p.facts?.targets ?? []))
  return [...new Set(all.flatMap((p) => p.facts?.expected ?? []))].filter((t) => !served.has(t))
}
