/** Alerts of locks, metadata and tokens: for each kind an emulated fault that raises and clears it, and a similar course that does not. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_ALERT_RULES, LEVEL_KINDS, RULES } from '#core/alerts/rules.ts'
import type { LevelKind } from '#core/alerts/figures.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { alertedCluster, scenarioOf } from '../../../tests/node/alerted-cluster.ts'
import { lockedScenario } from '../../../tests/node/locked-host.ts'

type Alerted = ReturnType<typeof alertedCluster>

const disk = { bandwidth_mb_s: 1000, per_op_us: 500, channels: 4 }
const oss = [{ name: 'oss01', osts: [{ name: 't-OST0000', disk }] }]
const control = { controller: 'none', mode: 'observe', max_rate: 200, period_ms: 1000 }
const quietJob = {
  id: 'quiet',
  clients: [1],
  op: 'write',
  size_kib: 64,
  pattern: { kind: 'poisson', rate: 1 },
}

/** ccPFS with the given section; the default workload is a checkpoint whose convoys dissolve within milliseconds. */
const locks = (section: object): Scenario => scenarioOf(JSON.parse(lockedScenario(section)) as object)

/** Clients that append to files in turns, from 35 to 60 s. */
const appends = (files: readonly string[], thinkMs: number): Scenario =>
  locks({
    costs: {},
    files: [...new Set(files)].map((name) => ({ name })),
    workloads: files.map((file, i) => ({
      job: 'log',
      file,
      clients: [i + 1],
      pattern: 'append',
      size_bytes: 512,
      pace: { kind: 'continuous', think_ms: thinkMs },
      start_s: 35,
      stop_s: 60,
    })),
  })

const staged = (id: string, clients: readonly number[], rate: number, more: object = {}): object => ({
  id,
  clients,
  processes: clients.length,
  outstanding: 1024,
  op: ['stat'],
  stages: { per_client: 1 },
  pattern: { kind: 'poisson', rate },
  ...more,
})

/** Jobs under PADLL. */
const metadata = (padll: object, jobs: readonly object[], more: object = {}): Scenario =>
  scenarioOf({
    title: 'Metadata',
    cluster: 'meta',
    clients: { count: 4 },
    oss,
    mds: [{ name: 'mds01', mdts: [{ name: 'meta-MDT0000', per_op_us: 100 }] }],
    control,
    padll: { lease: { seconds: 10 }, ...padll },
    jobs: [quietJob, ...jobs],
    ...more,
  })

/** An MDS of 800 op/s, and a job that asks for `rate` op/s from 40 to 70 s. */
const loadedMds = (rate: number, more: object = {}): Scenario => {
  const storm = { clients: [2, 3], processes: 16, outstanding: 64, start_s: 40, stop_s: 70, op: ['stat'] }
  return scenarioOf({
    title: 'MDS',
    cluster: 'mds',
    clients: { count: 4, max_rpcs_in_flight: 256 },
    oss,
    mds: [{ name: 'mds01', threads: 4, mdts: [{ name: 'mds-MDT0000', per_op_us: 5_000 }] }],
    control,
    jobs: [quietJob, { ...storm, id: 'storm', pattern: { kind: 'poisson', rate: rate / 16 } }],
    ...more,
  })
}

const tokenClient = (name: string, reservation: number, workload: object, more: object = {}): object => ({
  name,
  job: name,
  reservation,
  workload,
  ...more,
})

const backlogged = { kind: 'backlogged' }
const perPeriod = (n: number): object => ({ kind: 'constant', per_period: n })

/** Data node of 3,000 I/O/s. */
const tokens = (clients: readonly object[], more: object = {}): Scenario =>
  scenarioOf({
    title: 'Tokens',
    cluster: 'tokens',
    clients: { count: 1 },
    oss,
    control,
    haechi: [{ name: 'dn0', global_iops: 3_000, local_iops: 3_000, batch: 50, slack: 8, ...more, clients }],
    jobs: [quietJob],
  })

const silent = (seconds: number, more: object = {}): Scenario =>
  locks({ faults: [{ what: 'client-silent', client: 3, at_s: 35, for_s: seconds }], ...more })

interface Case {
  readonly kind: LevelKind
  readonly raises: Scenario
  /** Subject, and text of its alert. */
  readonly where: string
  readonly text: RegExp
  /** Similar courses that raise no alert of the kind. */
  readonly quiet: Readonly<Record<string, Scenario>>
  readonly toS: number
  /** An operator's act at a time. */
  readonly act?: { readonly atS: number; readonly do: (c: Alerted) => void }
}

const CASES: readonly Case[] = [
  {
    kind: 'ping-pong',
    raises: appends(['run.log', 'run.log', 'run.log'], 1),
    where: 'run.log / 0',
    text: /^Ping-pong on run\.log \/ 0, \d+ owner changes\/s$/,
    quiet: {
      'each client appends to its own file': appends(['a.log', 'b.log', 'c.log'], 1),
      'clients take turns at a file slowly': appends(['run.log', 'run.log', 'run.log'], 100),
    },
    toS: 85,
  },
  {
    kind: 'lock-wait',
    raises: silent(25),
    where: 'ckpt.h5 / ',
    text: /^Lock requests on ckpt\.h5 \/ \d wait [\d.k ]+ ms \(95th percentile of \d+ in 5 s\)/,
    quiet: { 'convoys dissolve within milliseconds': locks({}), 'a client is silent for a few seconds': silent(5) },
    toS: 90,
  },
  {
    kind: 'eviction',
    raises: silent(20, { revocation_timeout_s: 30 }),
    where: 'ckpt.h5 / ',
    text: /^cn0?3 has not released a revoked lock on ckpt\.h5 \/ \d for 1\d s; eviction after 30 s$/,
    quiet: { 'the client answers after a third of the timeout': silent(10, { revocation_timeout_s: 30 }) },
    toS: 80,
  },
  {
    kind: 'lock-server',
    raises: locks({ faults: [{ what: 'server-silent', server: 'ds01', at_s: 35, for_s: 15 }] }),
    where: 'ds01',
    text: /^The lock service on ds01 has processed nothing for \d s while requests wait$/,
    quiet: {
      'the server is busy again after 2 s': locks({
        faults: [{ what: 'server-silent', server: 'ds01', at_s: 35, for_s: 2 }],
      }),
      'a client is silent': silent(20),
    },
    toS: 75,
  },
  {
    kind: 'metadata-wait',
    raises: metadata({ system_limits: { meta_op: 10 } }, [staged('storm', [2], 15, { start_s: 20, stop_s: 160 })]),
    where: 'storm',
    text: /^Operations of storm \(meta_op\) wait \d+ s on average, stages: 1, \d+ queued$/,
    quiet: {
      'the limit is reached and the queue stays short': metadata({ system_limits: { meta_op: 10 } }, [
        staged('storm', [2], 60, { start_s: 20, stop_s: 160, outstanding: 32 }),
      ]),
    },
    toS: 300,
  },
  {
    kind: 'false-allocation',
    raises: metadata(
      {
        system_limits: { meta_op: 100 },
        algorithm: 'static',
        policies:
          '1 0 demand idle meta_op 80\n2 0 demand busy meta_op 20\n3 150 demand idle meta_op 10\n4 150 demand busy meta_op 90\n',
      },
      [staged('idle', [2], 1), staged('busy', [3], 60)],
    ),
    where: 'meta_op',
    text: /^meta_op: \d+(\.\d)? of 100 op\/s are allocated and unused while a job waits$/,
    quiet: {
      'unused rates go to the job that waits': metadata(
        {
          system_limits: { meta_op: 100 },
          algorithm: 'psfa',
          policies: '1 0 demand idle meta_op 80\n2 0 demand busy meta_op 20\n',
        },
        [staged('idle', [2], 1), staged('busy', [3], 200)],
      ),
      'rates are unused, and no job waits': metadata(
        {
          system_limits: { meta_op: 100 },
          algorithm: 'static',
          policies: '1 0 demand idle meta_op 80\n2 0 demand busy meta_op 20\n',
        },
        [staged('idle', [2], 1), staged('busy', [3], 10)],
      ),
    },
    toS: 190,
  },
  {
    kind: 'stage',
    raises: metadata({ faults: [{ what: 'local-dies', at_s: 40, for_s: 25, client: 2 }] }, [staged('a', [2, 3], 20)]),
    where: 'cn02',
    text: /^cn02: 1 of 1 stages without heartbeat, of a$/,
    quiet: {
      'a job ends': metadata({}, [staged('a', [2, 3], 20, { stop_s: 40 })]),
      'a local controller restarts': metadata({ faults: [{ what: 'local-dies', at_s: 40, for_s: 4, client: 2 }] }, [
        staged('a', [2, 3], 20),
      ]),
    },
    toS: 100,
  },
  {
    kind: 'controller',
    raises: metadata({ faults: [{ what: 'global-dies', at_s: 40, for_s: 20 }] }, [staged('a', [2], 20)]),
    where: 'qos01',
    text: /^The global controller on qos01 does not answer: .*no global controller runs on this node$/,
    quiet: {
      'the controller restarts': metadata({ faults: [{ what: 'global-dies', at_s: 40, for_s: 5 }] }, [
        staged('a', [2], 20),
      ]),
      'a local controller dies': metadata({ faults: [{ what: 'local-dies', at_s: 40, for_s: 25, client: 2 }] }, [
        staged('a', [2], 20),
      ]),
    },
    toS: 80,
  },
  {
    kind: 'mds',
    raises: loadedMds(1_000),
    where: 'mds01',
    text: /^mds01: requests wait \d+ ms for a thread of mdt \((95th percentile|mean)\), \d+ served$/,
    quiet: {
      'the MDS serves as much as it is asked for': loadedMds(600),
      'a rule of TBF holds the requests back': loadedMds(1_000, {
        policy: 'tbf jobid',
        rules: [{ service: 'mdt', line: 'start cap jobid={storm} rate=50' }],
      }),
    },
    toS: 130,
  },
  {
    kind: 'pool-empty',
    raises: tokens([tokenClient('idle', 2_400, perPeriod(10), { leave_s: 60 }), tokenClient('busy', 300, backlogged)], {
      variant: 'basic',
    }),
    where: 'dn0',
    text: /^dn0: \d+ % of the tokens are not used while busy waits for tokens and the pool is empty$/,
    quiet: {
      'unused reservations are converted': tokens([
        tokenClient('idle', 2_400, perPeriod(10)),
        tokenClient('busy', 300, backlogged),
      ]),
      'the pool is empty and no client waits': tokens(
        [tokenClient('idle', 2_400, perPeriod(10)), tokenClient('busy', 600, perPeriod(500))],
        { variant: 'basic' },
      ),
    },
    toS: 85,
  },
  {
    kind: 'pool-idle',
    raises: tokens([tokenClient('a', 300, backlogged), tokenClient('b', 300, backlogged)], {
      capacity: [
        { at_s: 40, iops: 1_200 },
        { at_s: 65, iops: 3_000 },
      ],
    }),
    where: 'dn0',
    text: /^dn0: \d+ % of the tokens are not used while [ab] has tokens and waiting requests$/,
    quiet: {
      'no client has requests waiting': tokens([tokenClient('a', 300, perPeriod(400))], {}),
      'every client is at its limit': tokens([tokenClient('a', 300, backlogged, { limit: 500 })], {}),
    },
    toS: 90,
  },
  {
    kind: 'capacity',
    raises: tokens([tokenClient('a', 1_200, backlogged), tokenClient('b', 1_000, backlogged)], {
      capacity: [
        { at_s: 40, iops: 2_450 },
        { at_s: 90, iops: 3_000 },
      ],
    }),
    where: 'dn0',
    text: /^dn0: estimated capacity is \d+ of 3000 profiled I\/O per period$/,
    quiet: {
      'the capacity is back after 15 s': tokens(
        [tokenClient('a', 1_200, backlogged), tokenClient('b', 1_000, backlogged)],
        {
          capacity: [
            { at_s: 40, iops: 2_450 },
            { at_s: 55, iops: 3_000 },
          ],
        },
      ),
      'little is asked for': tokens([tokenClient('a', 1_200, perPeriod(300))]),
    },
    toS: 130,
  },
  {
    kind: 'token-client',
    raises: tokens([tokenClient('a', 500, perPeriod(450), { crash_s: 40 }), tokenClient('b', 500, backlogged)]),
    where: 'a',
    text: /^a on dn0 has sent no report for 3 periods; it holds a reservation of 500 I\/O$/,
    quiet: {
      'a client leaves': tokens([
        tokenClient('a', 500, perPeriod(450), { leave_s: 40 }),
        tokenClient('b', 500, backlogged),
      ]),
      'a client has nothing to do': tokens([tokenClient('a', 500, perPeriod(0)), tokenClient('b', 500, backlogged)]),
    },
    toS: 65,
    act: { atS: 50, do: ({ source }) => void source.dataNodes[0]?.run(source.nowNs())?.node.evict(0) },
  },
]

/** All reports of one kind, and the events of its plane; the other kinds keep their default rules. */
async function observed({ kind, toS, act }: Case, scenario: Scenario): Promise<Pick<Alerted, 'reported' | 'monitor'>> {
  const c = alertedCluster(scenario, DEFAULT_ALERT_RULES)
  if (act) {
    await c.run(act.atS)
    act.do(c)
  }
  await c.run(toS)
  return { reported: c.reported.filter((r) => r.entry.kind === kind), monitor: c.monitor }
}

describe('alerts of the planes', () => {
  it('have a case for each kind', () => {
    expect(CASES.map((c) => c.kind).toSorted()).toEqual(LEVEL_KINDS.toSorted())
  })

  it.each(CASES)('$kind begins and ends', async (of) => {
    const { reported: reports, monitor } = await observed(of, of.raises)
    const first = reports[0]
    expect(reports.map((r) => r.what).filter((what) => what === 'opened' || what === 'ended')).toEqual([
      'opened',
      'ended',
    ])
    expect(first?.entry.where).toContain(of.where)
    expect(first?.entry.text).toMatch(of.text)
    expect(first?.atS).toBeGreaterThan(30)
    expect(reports.at(-1)?.entry.endMs).toBeGreaterThan(first?.entry.fromMs ?? Infinity)
    // Its start is one event on the time axis: that of the component that measures it, or that of the alert.
    const { ownEvent } = RULES[of.kind]
    const atMs = 1_000 * (first?.atS ?? NaN)
    const marks = monitor.events.between(0, atMs, 500).filter((m) => m.where === first?.entry.where && m.level !== 'ok')
    const own = marks.filter((m) => m.kind === ownEvent?.kind && m.subject === ownEvent.subject)
    const added = marks.filter((m) => m.atMs === atMs && m.kind === 'alarm' && m.text === first?.entry.text)
    expect([own.length > 0, added.length]).toEqual(ownEvent ? [true, 0] : [false, 1])
  })

  it('another global controller takes over: the one that is read is superseded', async () => {
    const faults = [{ what: 'second-global', at_s: 40, epoch: 3 }]
    const c = alertedCluster(metadata({ faults }, [staged('a', [2], 20)]))
    await c.run(60)
    expect(c.opened().map(({ entry }) => [entry.kind, entry.where])).toEqual([['controller', 'qos01']])
    expect(c.opened()[0]?.entry.text).toMatch(/^The global controller on qos01 with epoch 1 is superseded: .*epoch 3/)
  })

  it.each(
    CASES.flatMap((of) => Object.entries(of.quiet).map(([name, scenario]) => ({ name, of, kind: of.kind, scenario }))),
  )('$kind does not begin if $name', async ({ of, scenario }) => {
    expect((await observed(of, scenario)).reported).toEqual([])
  })
})
