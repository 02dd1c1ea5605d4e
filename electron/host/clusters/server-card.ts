/** Model of one server card. */
import type { ServerCard, ShownKey } from '#core/api/clusters.ts'
import type { Level } from '#core/api/parts.ts'
import type { ServerPeriodFrame } from '#core/api/periods.ts'
import { primaryPolicy } from '#core/lustre/nrs-policies.ts'
import type { LiveServer } from '../../cluster/live/live-server.ts'
import type { HostKeyReport } from '../../ssh/host-key-report.ts'
import { canPromptToTrust } from '../../ssh/verdict.ts'

const TEXT = 240
const cut = (text: string): string => (text.length > TEXT ? `${text.slice(0, TEXT)}…` : text)

function shownKey(k: HostKeyReport, via: string): ShownKey {
  const known = k.known.slice(0, 4).map((o) => `${o.type} ${o.fingerprint} (${o.where})`)
  const why =
    k.verdict === 'match'
      ? (k.known[0]?.where ?? '')
      : [...known, ...k.faults.slice(0, 4)].join('; ') || 'not in known_hosts'
  return {
    host: k.host,
    port: k.port,
    type: k.type,
    fingerprint: k.fingerprint,
    verdict: k.verdict,
    why: cut(why),
    isOpen: canPromptToTrust(k),
    via,
  }
}

/** Key that a server presented; undefined before. */
export function shownKeyOf(server: LiveServer): ShownKey | undefined {
  const { state } = server
  const via = 'via' in server.address ? server.address.via : ''
  if (state.kind === 'connected') return shownKey(state.connected.hostKey, via)
  if (state.kind === 'refused' && state.failure.hostKey) return shownKey(state.failure.hostKey, via)
  return undefined
}

function stateOf(server: LiveServer, silentWhy: string | undefined): { text: string; level: Level } {
  const { state, refusal } = server
  switch (state.kind) {
    case 'idle':
      return { text: 'idle', level: 'idle' }
    case 'connecting':
      return { text: `connecting: ${state.step}`, level: 'watch' }
    case 'lost':
      return { text: state.failure.why ?? state.failure.what, level: 'bad' }
    case 'refused':
      return { text: state.failure.what, level: 'bad' }
    case 'connected':
      if (refusal) return { text: refusal.what, level: 'bad' }
      if (silentWhy !== undefined) return { text: silentWhy, level: 'bad' }
      return server.facts ? { text: 'connected', level: 'ok' } : { text: 'connecting: detecting roles', level: 'watch' }
  }
}

const LOGIN: Readonly<Record<'agent' | 'file', string>> = { agent: 'agent', file: 'key file' }

/** @param now.silent  reason why it does not answer although it is connected, if so. */
export function serverCard(
  server: LiveServer,
  now: {
    readonly atMs: number
    readonly silent?: string | undefined
    readonly period?: ServerPeriodFrame | undefined
  },
): ServerCard {
  const { state, facts, address, refusal } = server
  const connected = state.kind === 'connected' ? state.connected : undefined
  const shownState = stateOf(server, now.silent)
  const offered = connected?.offered.at(-1)
  const first = primaryPolicy(facts?.services[0]?.policies ?? [], 'reg')
  const { negotiated } = connected ?? {}
  return {
    host: server.host,
    address: 'text' in address ? address.text : '',
    via: 'via' in address ? address.via : '',
    roles: [...(server.input.roles.length > 0 ? server.input.roles : (facts?.roles ?? []))],
    state: state.kind,
    text: cut(shownState.text),
    level: shownState.level,
    sinceMs: 'sinceMs' in state ? state.sinceMs : null,
    retryAtMs: state.kind === 'lost' ? (state.retryAtMs ?? null) : null,
    ...(state.kind === 'lost' && state.retry ? { retry: state.retry } : {}),
    ...('failure' in state ? { code: state.failure.code } : refusal ? { code: refusal.code } : {}),
    roundTripMs: facts?.roundTripMs ?? null,
    targets: [...(facts?.targets ?? [])],
    version: facts?.versionText ?? '',
    cpts: facts?.cpts ?? null,
    policy: first ? `${first.name} ${first.arg}`.trim() : '',
    key: shownKeyOf(server) ?? null,
    login: offered ? `${LOGIN[offered.from]}, ${offered.fingerprint}` : '',
    algorithms: negotiated ? [negotiated.kex, negotiated.cipher, negotiated.hostKey].join(', ') : '',
    strictKex: negotiated?.isStrict ?? null,
    channel: !connected
      ? ''
      : connected.commands.mode === 'channel'
        ? 'one shell session for all commands'
        : `one session per command: ${connected.commands.why}`,
    sudo: facts ? sudoOf(facts) : { kind: 'unknown', text: '', level: 'unknown' },
    timers: facts?.timers ?? 'unknown',
    clockSkewMs: facts?.clockSkewMs ?? null,
    ...(now.period && { period: now.period }),
    steps: [...server.steps],
  }
}

function sudoOf({ sudo }: NonNullable<LiveServer['facts']>): ServerCard['sudo'] {
  const level = ({ root: 'watch', read: 'ok', write: 'ok', broad: 'watch', none: 'bad' } as const)[sudo.kind]
  return { kind: sudo.kind, text: cut(sudo.text), level }
}
