/**
 * Clusters for the tests of this view, and a host that answers its verbs: PROD behind a bastion, STAGE with a missing server, DEV
 * idle, the demo.
 */
import type {
  CheckEvent,
  CheckStep,
  ClusterCard,
  ConnectionsFrame,
  ServerCard,
  ServerInput,
  ShownKey,
} from '#core/api/clusters.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'

export const NOW_MS = Date.UTC(2026, 10, 19, 14, 32, 7)
/** Same key as that of `ssh-keygen -lv` in fingerprint.test.ts. */
export const PRINT = 'SHA256:IocA7kCDzQu9uWzzxraFQVwbWvVhdX/x8OHQ7SV6OgI'

export const shownKey = (patch: Partial<ShownKey> = {}): ShownKey => ({
  host: 'cetus-mgs',
  port: 22,
  type: 'ssh-ed25519',
  fingerprint: PRINT,
  verdict: 'unknown',
  isOpen: true,
  why: 'no line of known_hosts and no entry of the trust store names it',
  via: 'login1.hpc',
  ...patch,
})
export const known = (host: string, why = 'compared, 3 Mar, mira'): ShownKey =>
  shownKey({ host, verdict: 'match', why, isOpen: false, via: '' })

const commands: readonly (readonly [CheckStep['id'], string, number])[] = [
  ['config', 'ssh -G cetus-mgs', 1],
  ['dns', 'getent hosts cetus-mgs', 3],
  ['tcp', 'connect 10.6.0.2:22 via login1.hpc', 11],
  ['host key', 'verify ssh-ed25519', 2],
  ['auth', 'agent: ED25519, then ~/.ssh/id_cetus', 48],
  ['shell', 'printf ready', 4],
  ['sudo', 'sudo -n -l', 21],
  ['lctl', 'lctl get_param -n version', 9],
  ['role', 'lctl list_param obdfilter mdt mgs', 12],
  ['policy', 'lctl get_param -n ost.OSS.ost_io.nrs_policies', 8],
  ['jobs', 'lctl get_param -n jobid_var', 8],
  ['timer', 'systemd-run --version', 15],
  ['clock', 'date +%s.%N', 4],
]
/** Checklist up to step `at`, which has `state`; later steps have not begun. */
export const stepsTo = (
  at: CheckStep['id'] | 'end',
  state: CheckStep['state'] = 'ok',
  more: Partial<CheckStep> = {},
) => {
  const end = at === 'end' ? commands.length : commands.findIndex(([id]) => id === at)
  return commands.map(([id, command, tookMs], i): CheckStep => {
    const isPast = i < end
    return {
      id,
      command,
      detail: '',
      fix: '',
      tookMs: isPast ? tookMs : null,
      state: isPast ? 'ok' : i === end ? state : 'next',
      ...(i === end ? more : {}),
    }
  })
}

export const server = (host: string, patch: Partial<ServerCard> = {}): ServerCard => ({
  host,
  address: `mira@${host}:22`,
  via: '',
  roles: ['oss'],
  state: 'connected',
  text: 'connected',
  level: 'ok',
  sinceMs: NOW_MS - 3_600_000,
  retryAtMs: null,
  roundTripMs: 0.8,
  targets: [],
  version: '2.15.8',
  cpts: 4,
  policy: 'tbf jobid',
  key: known(host),
  login: 'agent, ED25519',
  strictKex: true,
  channel: 'one shell session for all commands',
  algorithms: 'curve25519-sha256, chacha20-poly1305',
  sudo: { kind: 'write', text: 'reads the list, writes by the helper', level: 'ok' },
  timers: 'systemd',
  clockSkewMs: 3,
  steps: stepsTo('end'),
  ...patch,
})
const two = (n: number): string => String(n).padStart(2, '0')
const hex = (n: number): string => n.toString(16).padStart(4, '0')
/** OSSes with `each` OSTs. */
export const osses = (count: number, each: number, fs: string, patch: Partial<ServerCard> = {}): ServerCard[] =>
  Array.from({ length: count }, (_, i) =>
    server(`oss${two(i + 1)}`, {
      targets: Array.from({ length: each }, (_, j) => `${fs}-OST${hex(i * each + j)}`),
      ...patch,
    }),
  )

const input = (name: string, env: 'PROD' | 'STAGE' | 'DEV', hosts: readonly string[]): ClusterCard['input'] => ({
  name,
  env,
  safeMode: 'review+unlock',
  allowRoot: false,
  intervalMs: 1000,
  maxRate: 1000,
  off: [],
  servers: hosts.map((host) => ({ name: '', host, port: null, user: '', identity: '', jump: null, roles: [] })),
})
const probes = (kb: readonly number[], ms: readonly number[]): ClusterCard['probes'] =>
  (
    [
      ['job_stats', 'job_stats', true],
      ['rules', 'nrs_tbf_rule', true],
      ['ldlm', 'ldlm counters', true],
      ['stats', 'service statistics', false],
    ] as const
  ).map(([id, label, on], i) => ({
    id,
    label,
    on,
    bytesPerSec: (kb[i] ?? 0) * 1000,
    serverMsPerSec: ms[i] ?? 0,
    serverCpuMsPerSec: null,
    everyS: 1,
    note: '',
  }))

/** An hour of cost, one point every 5 s, with a gap and a peak. */
export function costOf(bytes: number): ClusterCard['cost'] {
  const t = Array.from({ length: 720 }, (_, i) => NOW_MS - (719 - i) * 5000)
  const isGap = (i: number): boolean => i > 260 && i < 275
  const hump = (i: number): number => Math.max(0, 1 - Math.abs(i - 405) / 25) * 1.4
  const value = (i: number, base: number): number | null =>
    isGap(i) ? null : base * (1 + 0.08 * Math.sin(i * 1.7) + 0.05 * Math.sin(i / 9) + hump(i))
  return {
    t,
    bytesPerSec: t.map((_, i) => value(i, bytes)),
    serverMsPerSec: t.map((_, i) => value(i, bytes / 22_000)),
  }
}

export const card = (name: string, patch: Partial<ClusterCard> = {}): ClusterCard => ({
  name,
  env: 'DEV',
  kind: 'LIVE',
  state: 'connected',
  text: 'live since 09:12',
  level: 'ok',
  onScreen: false,
  sinceMs: NOW_MS - 19_200_000,
  mode: 'observe',
  safeMode: 'review+unlock',
  unlockedUntilMs: null,
  intervalMs: 1000,
  servers: [],
  probes: probes([26, 6, 5, 0], [1.1, 0.4, 0.3, 0]),
  cost: costOf(37_000),
  budgetBytesPerSec: 100_000,
  notices: [],
  leftovers: [],
  input: input(name, 'DEV', ['mgs']),
  ...patch,
})

const lost: Partial<ServerCard> = {
  state: 'lost',
  text: 'unreachable: no answer from port 22 in 10 s',
  level: 'bad',
  roundTripMs: null,
  sinceMs: NOW_MS - 240_000,
  retryAtMs: NOW_MS + 21_000,
  steps: stepsTo('tcp', 'bad', { detail: 'timed out' }),
}
const tooBroad: ServerCard['sudo'] = { kind: 'broad', text: 'any lctl, too broad', level: 'watch' }

export function prod(patch: Partial<ClusterCard> = {}): ClusterCard {
  const via = { via: 'login1.hpc' }
  const servers = [
    server('altair-mgs', { ...via, roles: ['mgs'], roundTripMs: 1.2 }),
    server('mds01', { ...via, roles: ['mds'], targets: ['altair-MDT0000', 'altair-MDT0001'] }),
    server('mds02', { ...via, roles: ['mds'], targets: ['altair-MDT0002', 'altair-MDT0003'] }),
    ...osses(12, 4, 'altair', via),
  ]
  const hosts = servers.map((s) => s.host)
  return card('altair', { env: 'PROD', onScreen: true, servers, input: input('altair', 'PROD', hosts), ...patch })
}
export function stage(patch: Partial<ClusterCard> = {}): ClusterCard {
  const via = { via: 'login1.hpc', version: '2.17.0', cpts: 2, sudo: tooBroad, login: 'key file id_borealis' }
  const servers = [
    server('bor-mgs', { ...via, roles: ['mgs'] }),
    server('mds01', { ...via, roles: ['mds'], targets: ['bor-MDT0000', 'bor-MDT0001'] }),
    ...osses(4, 4, 'bor', via).map((s, i) => (i === 2 ? { ...s, ...lost } : s)),
  ]
  return card('borealis', {
    env: 'STAGE',
    state: 'partial',
    text: 'oss03 unreachable 4 min',
    level: 'bad',
    mode: 'enforce',
    servers,
    unlockedUntilMs: NOW_MS + 491_000,
    probes: probes([14, 4, 4, 0], [0.5, 0.2, 0.2, 0]),
    cost: costOf(22_000),
    input: input(
      'borealis',
      'STAGE',
      servers.map((s) => s.host),
    ),
    leftovers: [
      {
        key: 'oss01 ost_io reg hog4690',
        host: 'oss01',
        service: 'ost_io',
        queue: 'reg',
        rule: 'hog4690',
        text: 'hog4690 jobid={4690.*} 400, ref 3',
        timer: '',
        expiresMs: null,
        owner: 'mira, 18 Nov 22:10',
      },
      {
        key: 'oss02 ost_io reg hog4471',
        host: 'oss02',
        service: 'ost_io',
        queue: 'reg',
        rule: 'hog4471',
        text: 'hog4471 jobid={4471.*} 63, ref 0',
        timer: 'sluice-b311',
        expiresMs: NOW_MS + 300_000,
        owner: '',
      },
    ],
    ...patch,
  })
}
export function dev(patch: Partial<ClusterCard> = {}): ClusterCard {
  const idle: Partial<ServerCard> = {
    state: 'idle',
    text: 'not connected',
    level: 'idle',
    roundTripMs: null,
    policy: 'fifo',
    version: '2.16.1',
    cpts: 2,
    login: '',
    steps: [],
    sudo: { kind: 'unknown', text: '', level: 'unknown' },
  }
  const servers = [server('vega-mgs', { ...idle, roles: ['mgs', 'mds'] }), ...osses(2, 2, 'vega', idle)]
  return card('vega', {
    state: 'idle',
    text: 'not connected, last 2 days ago',
    level: 'idle',
    servers,
    probes: [],
    sinceMs: null,
    cost: { t: [], bytesPerSec: [], serverMsPerSec: [] },
    safeMode: 'read-only',
    notices: [
      {
        code: 'POLICY_FIFO',
        what: 'Policy is fifo',
        why: 'rules need TBF',
        next: 'nrs_policies=tbf has to be set first',
      },
    ],
    input: input('vega', 'DEV', ['vega-mgs', 'oss01', 'oss02']),
    ...patch,
  })
}
export function demo(patch: Partial<ClusterCard> = {}): ClusterCard {
  const local = {
    key: null,
    login: 'none, in this process',
    algorithms: '',
    strictKex: null,
    version: '2.15.5',
  } as const
  const servers = [
    server('mds01', { ...local, roles: ['mgs', 'mds'], targets: ['demo-MDT0000', 'demo-MDT0001'] }),
    ...osses(2, 2, 'demo', local),
  ]
  return card('demo', {
    env: 'DEMO',
    kind: 'EMULATED',
    text: 'emulated in this process, no network',
    input: null,
    servers,
    mode: 'advise',
    safeMode: 'review',
    ...patch,
  })
}

export const connectionsFrame = (patch: Partial<ConnectionsFrame> = {}): ConnectionsFrame => ({
  seq: 1,
  sample: 40,
  atMs: NOW_MS,
  asks: [],
  ignored: [],
  trustStore: { path: '/home/mira/.config/sluice/trusted-hosts.json', fault: '' },
  clusters: [prod(), stage(), dev(), demo()],
  ...patch,
})

export interface SampleHost {
  readonly calls: { verb: string; input: unknown }[]
  frame: ConnectionsFrame | null
  /** Events of a server's checklist; it stays open until `end`. */
  check: (input: ServerInput, attempt: number) => CheckEvent[]
  /** Thrown by the verb of that name. */
  readonly refuses: Map<string, Error>
  acks: number
  script: { text: string; rules: number }
  ends: { host: string; state: 'done' | 'failed' | 'rolled back' | 'unknown' | 'not sent'; detail: string }[]
  others: { host: string; console: string; lease: string }[]
}

/** Opens a connection to a new host. */
export function openConnectionsHost(patch: Partial<SampleHost> = {}): SampleHost {
  const host: SampleHost = {
    calls: [],
    frame: connectionsFrame(),
    refuses: new Map(),
    acks: 0,
    ends: [],
    others: [],
    check: () => [
      { kind: 'steps', host: 'cetus-mgs', steps: stepsTo('end') },
      { kind: 'end', ok: true },
    ],
    script: { text: '#!/bin/sh\n# oss01\nlctl set_param ost.OSS.ost_io.nrs_tbf_rule="stop hog4690"\n', rules: 4 },
    ...patch,
  }
  const note =
    <R>(verb: string, reply: () => R) =>
    async (asked?: unknown): Promise<R> => {
      host.calls.push({ verb, input: asked })
      const error = host.refuses.get(verb)
      if (error) throw error
      return reply()
    }
  const attempts = new Map<string, number>()
  const ends = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
  const aliases = {
    file: '/home/mira/.ssh/config',
    fault: '',
    names: [
      { name: 'cetus-mgs', address: 'mira@10.6.0.2:22 via login1.hpc' },
      { name: 'vega-mgs', address: 'root@10.7.0.2:22' },
    ],
  }
  const silent = [
    'connect',
    'disconnect',
    'show',
    'play',
    'save',
    'remove',
    'trust',
    'passphrase',
    'setProbe',
    'setSafeMode',
    'setMaxRate',
    'setAllowRoot',
  ]
  const api = {
    host: { ack: async () => void host.acks++ },
    views: {
      connections: async (_: unknown, { signal }: { signal: AbortSignal }) =>
        (async function* () {
          if (host.frame !== null) yield host.frame
          await ends(signal)
        })(),
    },
    source: {
      setMode: note('setMode', () => undefined),
      startClearing: note('startClearing', () => undefined),
      lock: note('lock', () => undefined),
      unlock: note('unlock', () => ({ untilMs: Date.now() + 900_000 })),
      stopAll: note('stopAll', () => ({
        removed: 4,
        nodes: host.ends,
        state: host.ends.every((n) => n.state === 'done') ? 'stopped' : 'uncertain',
        others: host.others,
      })),
      stopScript: note('stopScript', () => host.script),
    },
    sandbox: {
      gallery: async () => ({
        entries: [
          { id: 'built-in/demo', title: 'Four OSTs, one heavy job', about: 'One hog.', own: false },
          { id: 'own/night', title: 'Night', about: '', own: true },
        ],
      }),
    },
    clusters: {
      ...Object.fromEntries(silent.map((verb) => [verb, note(verb, () => undefined)])),
      aliases: async () => aliases,
      clean: note('clean', () => ({ nodes: host.ends })),
      check: async (asked: ServerInput, { signal }: { signal: AbortSignal }) => {
        await note('check', () => undefined)(asked)
        const attempt = (attempts.get(asked.host) ?? 0) + 1
        attempts.set(asked.host, attempt)
        return (async function* () {
          let isOpen = true
          for (const event of host.check(asked, attempt)) {
            yield event
            if (event.kind === 'end') isOpen = false
          }
          if (isOpen) await ends(signal)
        })()
      },
    },
  }
  useConnectionStore().opened({ api: api as unknown as Client })
  return host
}
