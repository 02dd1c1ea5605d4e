/** The eleven states as frames and answers of a host. Names and values are made up; the clock is stopped. */
import type { JobsFrame, OverviewFrame, StatusFrame } from '#core/api/frames.ts'
import { connectionsFrame, demo, NOW_MS, osses, prod, stepsTo } from '../../kits/renderer/views/connections-host.ts'
import { incidentsFrame, preview } from '../../kits/renderer/views/bundle-host.ts'
import { review, ruleRow, rulesFrame, stagedFrame } from '../../kits/renderer/views/rules-frames.ts'
import { scenarioCheck, sampleVariants } from '../../kits/renderer/views/sandbox-host.ts'
import type { Scene } from './scene-host.ts'

export { NOW_MS }
const SAMPLE = 400
const head = { seq: 1, sample: SAMPLE, atMs: NOW_MS, turn: 0 }

export const status = (patch: Partial<StatusFrame> = {}): StatusFrame => ({
  ...head,
  source: { kind: 'LIVE', cluster: 'altair', env: 'PROD', sinceMs: NOW_MS - 19_200_000 },
  oldest: 1,
  clock: { speed: 1, achieved: 1, intervalMs: 1000, sampleAgeMs: 600 },
  mode: 'observe',
  safeMode: 'review+unlock',
  unlockedUntilMs: null,
  controller: 'none',
  cycle: null,
  nextExpiry: {
    service: 'mdt',
    name: 'mdstorm_u733',
    createdMs: NOW_MS - 600_000,
    expiresMs: NOW_MS + 199_000,
    servers: 2,
    running: 4,
  },
  adaptbf: {
    options: {
      demand: 'served',
      deadbandPercent: 0,
      coefficient: 'max',
      overdraft: 0,
      autoT: false,
      spill: false,
    },
    measures: ['served'],
    maxRates: [],
    lag: null,
    clearing: { isOn: false, clears: 0 },
  },
  nodes: { total: 15, reporting: 15, missing: [] },
  counts: { jobs: 412, targets: 52, rules: 8 },
  cost: { bytesPerSec: 37_000, serverMsPerSec: 1.8 },
  audit: 18_209,
  staged: 3,
  history: { recording: true, file: 'history.sqlite' },
  notices: [],
  ...patch,
})

const N = 120
const t = Array.from({ length: N }, (_, i) => NOW_MS - (N - 1 - i) * 2500)
const wave = (seed: number, base: number, jump = 0): number[] =>
  t.map(
    (_, i) => base * (1 + 0.12 * Math.sin(i / (5 + seed)) + 0.06 * Math.sin(i * (1.3 + seed))) + (i > 62 ? jump : 0),
  )
const jobs = ['4711.cfd_solve.u884', '4655.vasp_std.u340', '4718.bwa.u733', '4690.python.u1021']

export const overview = (isPartial = false): OverviewFrame => ({
  ...head,
  windowMs: 300_000,
  tiles: (
    [
      ['read', 4.6e9],
      ['write', 6.5e9],
      ['rpc', 61_900],
      ['service', 12.4],
      ['queued', 2_460],
      ['budget', 0.71],
      ['rules', 8],
      ['lent', 0],
    ] as const
  ).map(([id, value], i) => ({
    id,
    value,
    before: value * 0.94,
    spark: wave(i, value).slice(0, 60),
    level: 'ok' as const,
    ...(isPartial && id !== 'rules' && id !== 'service' ? { partial: true } : {}),
  })),
  targets: {
    name: Array.from({ length: 24 }, (_, i) => `altair-OST${i.toString(16).padStart(4, '0')}`),
    node: Array.from({ length: 24 }, (_, i) => `oss${String(Math.floor(i / 4) + 1).padStart(2, '0')}`),
    ...Object.fromEntries(
      ['utilisation', 'serviceMs', 'queued', 'imbalance', 'rpcs'].map((key, k) => [
        key,
        Array.from({ length: 24 }, (_, i) =>
          isPartial && i >= 20 ? null : 0.3 + 0.5 * Math.abs(Math.sin(i * 1.7 + k)),
        ),
      ]),
    ),
  } as OverviewFrame['targets'],
  stack: {
    t,
    series: [
      ...jobs.map((jobId, i) => ({ jobId, colour: i + 1, values: wave(i, 1.4e9 / (i + 1), i === 3 ? 3.1e9 : 0) })),
      { jobId: '', colour: 0, values: wave(7, 3e8) },
    ],
  },
  movers: {
    jobId: [...jobs].reverse(),
    user: ['u1021', 'u733', 'u340', 'u884'],
    account: ['ml', 'bio', 'chem', 'cfd'],
    nodes: [1, 2, 16, 32],
    colour: [4, 3, 2, 1],
    rpcs: [41_000, 900, 6_200, 12_000],
    delta: [38_000, -40, 300, -900],
    spark: jobs.map((_, i) => wave(i, 100)),
    targets: [[0, 1], [2], [3], [4]],
  },
  events: [],
  timers: [],
})

const none: JobsFrame = {
  ...head,
  windowMs: 300_000,
  targets: [],
  target: '',
  known: 0,
  shown: 0,
  offset: 0,
  rows: {
    jobId: [],
    user: [],
    account: [],
    nodes: [],
    colour: [],
    rpcs: [],
    readBps: [],
    writeBps: [],
    mdops: [],
    ioBytes: [],
    topOp: [],
    throttled: [],
    rule: [],
    ruleRate: [],
    record: [],
    spark: [],
  },
  pairs: null,
  totals: { nodes: 0, rpcs: 0, readBps: 0, writeBps: 0, mdops: 0, throttled: 0, rules: 0, record: 0 },
  facets: { account: [], rule: [], is: [] },
  stack: { t, series: [] },
  ledger: { t, lent: [], borrowed: [], intervalMs: 1000 },
}

const strip = { ...head, fromMs: NOW_MS - 3_600_000, toMs: NOW_MS, t, rpcs: wave(2, 50_000), marks: [] }
const rules = rulesFrame({
  server: {
    node: 'oss01',
    command: 'lctl get_param ost.OSS.ost_io.nrs_tbf_rule',
    exit: 0,
    more: 0,
    text: 'regular_requests:\nCPT 0:\nhog4471 jobid={4471.*} 63, ref 48\ndefault * 10000, ref 0',
  },
  nodes: Array.from({ length: 12 }, (_, i) => `oss${String(i + 1).padStart(2, '0')}`),
  rows: [
    ruleRow({ name: 'hog4471', conditions: 'jobid={4471.*}', rateMin: 63, rateMax: 63, servers: 12, serversTotal: 12 }),
    ruleRow({ name: 'ckpt_4655', conditions: 'jobid={4655.*}', servers: 12, serversTotal: 12 }),
    ruleRow({ name: 'default', owner: 'lustre', conditions: '*', expressions: [], rateMin: 10_000, rateMax: 10_000 }),
  ],
})
const base: Scene = {
  'source.status': status(),
  'views.strip': strip,
  'views.overview': overview(),
  'views.rules': rules,
  'views.staged': stagedFrame(),
  'views.jobs': none,
  'views.incidents': incidentsFrame(),
  'views.connections': connectionsFrame({ clusters: [prod()] }),
}
const waiting = status({
  atMs: null,
  sample: 0,
  oldest: 0,
  nodes: { total: 15, reporting: 0, missing: [] },
  clock: { speed: 1, achieved: 1, intervalMs: 1000, sampleAgeMs: null },
})
const everyServer = (patch: Parameters<typeof osses>[3]) =>
  prod({ state: 'connecting', servers: prod().servers.map((s) => ({ ...s, ...patch })) })

const missing = ['oss11'].map((host) => ({ host, reason: 'no answer in 3 s', sinceMs: NOW_MS - 64_000 }))
const silent = Array.from({ length: 9 }, (_, i) => ({
  host: `oss${String(i + 4).padStart(2, '0')}`,
  reason: 'no answer in 3 s',
  sinceMs: NOW_MS - 7_400,
}))
const ends = [
  ...Array.from({ length: 9 }, (_, i) => ({
    host: `oss0${i + 1}`,
    state: 'done' as const,
    detail: 'verified by read-back',
    timer: 'sluice-b311',
    tookMs: 200 + 100 * (i % 4),
  })),
  { host: 'oss10', state: 'failed' as const, detail: 'EBUSY 16, tbf not running', tookMs: 400 },
  { host: 'oss11', state: 'unknown' as const, detail: 'channel lost after send', timer: 'sluice-b311', tookMs: 10_000 },
  { host: 'oss12', state: 'not sent' as const, detail: 'an earlier server did not complete' },
]

const outside = {
  jobId: '4718.bwa.u733',
  of: '4718.bwa.u733',
  input: 'RPC size 4 KiB',
  range: 'the fitted range of 16 KiB to 4 MiB',
  side: 'below' as const,
  times: 4,
  why: 'How service time splits into operation and bytes is assumed; for other sizes it is less certain.',
}
const check = scenarioCheck({ title: 'Checkpoint storm', outside: [outside], suggested: sampleVariants.slice(0, 2) })

export const scenes = {
  firstRun: {
    ...base,
    'source.status': status({
      source: {
        kind: 'EMULATED',
        cluster: 'demo',
        env: 'DEMO',
        scenario: 'Four OSTs, one heavy job',
        seed: 1,
        sinceMs: NOW_MS,
      },
      safeMode: 'review',
      staged: 0,
      nextExpiry: null,
      counts: { jobs: 15, targets: 6, rules: 1 },
      nodes: { total: 3, reporting: 3, missing: [] },
    }),
    'views.connections': connectionsFrame({ clusters: [demo({ onScreen: true })] }),
  },
  connecting: {
    ...base,
    'source.status': waiting,
    'views.connections': connectionsFrame({
      clusters: [
        everyServer({ state: 'connecting', text: 'connecting: lctl', level: 'watch', steps: stepsTo('lctl', 'now') }),
      ],
    }),
  },
  partial: {
    ...base,
    'source.status': status({ nodes: { total: 14, reporting: 13, missing } }),
    'views.overview': overview(true),
    'views.connections': connectionsFrame({
      clusters: [prod({ state: 'partial', servers: prod().servers.filter((s) => !s.roles.includes('mgs')) })],
    }),
  },
  stale: {
    ...base,
    'source.status': status({
      clock: { speed: 1, achieved: 1, intervalMs: 1000, sampleAgeMs: 7_400 },
      nodes: { total: 14, reporting: 5, missing: silent },
    }),
    'views.overview': overview(true),
    'views.connections': connectionsFrame({
      clusters: [prod({ state: 'partial', servers: prod().servers.filter((s) => !s.roles.includes('mgs')) })],
    }),
  },
  disconnected: {
    ...base,
    'source.status': status({ clock: { speed: 1, achieved: 1, intervalMs: 1000, sampleAgeMs: 72_000 } }),
    'views.connections': connectionsFrame({
      clusters: [
        {
          ...everyServer({
            state: 'lost',
            text: 'the channel was closed: Broken pipe',
            level: 'bad',
            code: 'SSH_LOST',
            retryAtMs: NOW_MS + 6_000,
            retry: { attempt: 4, baseMs: 1000, mostMs: 60_000 },
            steps: stepsTo('tcp', 'bad', { detail: 'connection refused' }),
          }),
          state: 'failed' as const,
        },
      ],
    }),
  },
  permission: {
    ...base,
    'source.status': waiting,
    'views.connections': connectionsFrame({
      clusters: [
        {
          ...everyServer({
            state: 'refused',
            text: 'sudo: a password is required',
            level: 'bad',
            code: 'NO_SUDO',
            steps: stepsTo('sudo', 'bad', {
              command: 'sudo -n lctl get_param ost.OSS.ost_io.nrs_tbf_rule',
              detail: 'sudo: a password is required',
              fix: 'mira ALL=(root) NOPASSWD: /usr/sbin/lctl get_param ost.OSS.ost_io.nrs_tbf_rule',
            }),
          }),
          state: 'failed' as const,
        },
      ],
    }),
  },
  noJobs: {
    ...base,
    'views.connections': connectionsFrame({
      clusters: [
        prod({
          servers: prod().servers.map((s) => ({
            ...s,
            steps: stepsTo('jobs', 'watch', {
              detail: 'jobid_var=disable jobid_name=%e.%u: jobs are not distinguished',
            }),
          })),
        }),
      ],
    }),
  },
  partialCommit: {
    ...base,
    'source.status': status({ mode: 'enforce', unlockedUntilMs: NOW_MS + 600_000 }),
    'views.staged': stagedFrame({ review: review({ servers: 12, serversTotal: 12 }) }),
    'rules.commit': { changeId: '18209', nodes: ends },
    'rules.undo': undefined,
  },
  sandbox: {
    ...base,
    'sandbox.gallery': { entries: [{ id: 'storm', title: 'Checkpoint storm', about: 'One job writes.', own: false }] },
    'sandbox.open': { text: 'title: Checkpoint storm\n', check },
    'sandbox.check': check,
    'sandbox.leaveOut': {
      text: 'title: Checkpoint storm\n# without\n',
      check: scenarioCheck({ title: 'Checkpoint storm' }),
    },
  },
  error: {
    ...base,
    'views.rules': {
      ...rules,
      unread: [{ node: 'oss07', line: 4, text: 'backup_win nid={10.4.9.*@o2', lines: 1, rules: 7 }],
    },
  },
  longTask: {
    ...base,
    'incidents.preview': preview(),
    'incidents.export': [
      { kind: 'progress', what: 'history.sqlite', done: 0.62, items: { done: 8, of: 13, unit: 'files' } },
    ],
  },
} as const satisfies Record<string, Scene>
