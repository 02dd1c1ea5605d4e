/**
 * Scenario of the soak: a cluster with all planes whose jobs start and end continuously, each with a unique id, while disks,
 * servers, the network and stages fail occasionally. The same plan and seed give the same text.
 */
import { randomStream, type RandomStream } from '#core/base/random.ts'
import { ADAPTBF } from '#core/controllers/registry.ts'

export interface SoakPlan {
  /** Emulated seconds. */
  readonly seconds: number
  /** Number of jobs in the run, including those active at the beginning. */
  readonly jobs: number
  /** Number of jobs that do I/O at the same time. */
  readonly alive: number
  /** RPC/s of a job that reads or writes. */
  readonly rate: number
  readonly periodMs: number
  readonly seed: number
}

const OSTS = ['soak-OST0000', 'soak-OST0001', 'soak-OST0002', 'soak-OST0003'] as const
const MDT = 'soak-MDT0000'
const CLIENTS = 16
/** One of this many jobs does metadata operations; one of this many of these runs under stages. */
const METADATA_EVERY = 8
const STAGED_EVERY = 4
/** Interval of faults, emulated seconds, and the maximum number of faults in a scenario. */
const FAULT_EVERY_S = 60
const FAULTS_MAX = 190
const STAGE_FAULTS_MAX = 90

/** Life of a job, s, such that `alive` of them overlap. */
export const lifeSeconds = ({ seconds, jobs, alive }: SoakPlan): number => (seconds * alive) / Math.max(1, jobs - alive)

interface Job extends Record<string, unknown> {
  readonly id: string
  readonly clients: readonly number[]
  readonly start_s: number
  readonly stop_s: number
  readonly stages?: object
}

/** Jobs in order of their ids; the first `alive` exist from the start, at random points of their lives. */
function jobsOf(plan: SoakPlan, random: RandomStream): Job[] {
  const life = lifeSeconds(plan)
  const every = life / plan.alive
  return Array.from({ length: plan.jobs }, (_, i) => {
    const endS = (i + 1) * every
    const user = random.below(60)
    const client = 1 + random.below(CLIENTS)
    const common = {
      id: `${10_000 + i}.app${i % 37}.u${user}`,
      user: `user${user}`,
      account: `acc${user % 9}`,
      clients: [client, 1 + (client % CLIENTS)],
      start_s: Math.max(0, Math.round((endS - life) * 1000) / 1000),
      stop_s: Math.max(0.5, Math.round(endS * 1000) / 1000),
    }
    const kind = Math.floor(i / METADATA_EVERY) % STAGED_EVERY
    if (i % METADATA_EVERY === METADATA_EVERY - 1) {
      const staged = kind === 0
      return {
        ...common,
        op: ['open', 'stat', 'close', 'stat'],
        targets: [MDT],
        ...(staged ? { processes: 2, outstanding: 256, stages: { per_client: 1, directory: '/lustre/soak' } } : {}),
        pattern: { kind: 'poisson', rate: staged ? plan.rate / 2 : plan.rate },
      }
    }
    const first = random.below(OSTS.length)
    return {
      ...common,
      op: i % 3 === 0 ? 'read' : 'write',
      size_kib: 64 << (i % 4),
      outstanding: 4,
      targets: [OSTS[first], OSTS[(first + 1) % OSTS.length]],
      pattern:
        i % 5 === 0
          ? { kind: 'bursts', rpcs: Math.max(1, Math.round(plan.rate * 7)), every_s: 7, jitter: 0.3 }
          : { kind: 'poisson', rate: plan.rate },
    }
  })
}

/** Faults of disks and the network, one after the other, each for some seconds. Server faults are in troubles.ts. */
function faultsOf({ seconds }: SoakPlan, random: RandomStream): object[] {
  const every = Math.max(FAULT_EVERY_S, seconds / FAULTS_MAX)
  const out: object[] = []
  for (let at = every / 2; at + 10 < seconds; at += every) {
    const target = random.below(8) === 0 ? MDT : OSTS[random.below(OSTS.length)]
    const lasting = { at_s: Math.round(at), for_s: 5 + random.below(15) }
    const kind = random.below(3)
    if (kind === 0) out.push({ what: 'slow-disk', target, factor: 3, ...lasting })
    else if (kind === 1) out.push({ what: 'disk-stops', target, ...lasting, for_s: 4 })
    else out.push({ what: 'slow-network', factor: 4, clients: [1 + random.below(CLIENTS)], ...lasting })
  }
  return out
}

/** Kills and hangs of stages, kills of local controllers, and occasionally of the global one. */
function stageFaultsOf(jobs: readonly Job[], { seconds }: SoakPlan, random: RandomStream): object[] {
  const staged = jobs.filter((j) => j.stages !== undefined)
  const every = Math.max(1, Math.ceil(staged.length / (STAGE_FAULTS_MAX / 2)))
  const out = staged
    .filter((j, i) => i % every === 0 && j.stop_s - j.start_s > 6)
    .map((j, i): object => {
      const at_s = Math.round(((j.start_s + j.stop_s) / 2) * 10) / 10
      const what = i % 2 === 0 ? 'stage-dies' : 'stage-silent'
      return { what, job: j.id, instance: 0, at_s, for_s: 3 }
    })
  for (let at = 90; at < seconds && out.length < STAGE_FAULTS_MAX; at += 600) {
    out.push({ what: 'local-dies', client: 1 + random.below(CLIENTS), at_s: at, for_s: 8 })
    out.push({ what: 'global-dies', at_s: at + 240, for_s: 6 })
  }
  return out
}

/** Policies by application, one for the stages and one for the rules of the metadata server: jobs change, applications stay. */
const POLICIES = `1 0 demand *.app7.* meta_op 60
2 0 demand *.app15.* meta_op 40
`

/** Text of the scenario; JSON, which YAML parsers accept. */
export function churnScenario(plan: SoakPlan): string {
  const random = randomStream(plan.seed, 'soak/scenario')
  const jobs = jobsOf(plan, random)
  const staged = jobs.filter((j) => j.stages !== undefined)
  const perOst = (plan.alive * plan.rate) / OSTS.length
  const disk = { bandwidth_mb_s: 4000, per_op_us: Math.round(Math.min(6400, 2e6 / Math.max(1, perOst))), channels: 4 }
  const ost = (name: string): object => ({ name, disk })
  return JSON.stringify({
    title: `Soak: ${plan.jobs} jobs`,
    cluster: 'soak',
    seed: plan.seed,
    policy: 'tbf jobid',
    clients: { count: CLIENTS, network_mb_s: 2400, max_rpcs_in_flight: 16 },
    oss: [
      { name: 'oss01', threads: 32, osts: [ost(OSTS[0]), ost(OSTS[1])] },
      { name: 'oss02', threads: 32, osts: [ost(OSTS[2]), ost(OSTS[3])] },
    ],
    mds: [{ name: 'mds01', threads: 16, mdts: [{ name: MDT, per_op_us: 150 }] }],
    control: {
      controller: ADAPTBF,
      mode: 'enforce',
      period_ms: plan.periodMs,
      // Half of the demand has to share, so tokens are lent and borrowed continuously.
      max_rate: Math.max(20, Math.round(perOst * 0.9)),
      metadata: { limits: { meta_op: Math.max(20, Math.round(plan.alive * plan.rate)) }, policies: POLICIES },
    },
    ...(staged.length > 0
      ? {
          padll: {
            controller_node: 'qos01',
            algorithm: 'psfa',
            interval_ms: 1000,
            mounts: ['/lustre/soak'],
            system_limits: { meta_op: Math.max(20, Math.round(plan.alive * plan.rate)) },
            lease: { seconds: 30, on_expiry: 'hold' },
            policies: POLICIES,
            faults: stageFaultsOf(jobs, plan, random),
          },
        }
      : {}),
    ccpfs: {
      manager: 'seqdlm',
      servers: ['ccpfs01'],
      costs: { device_mb_s: 400 },
      files: [{ name: 'ckpt.h5', stripes: 2, size_mib: 8 }, { name: 'run.log' }],
      workloads: [
        {
          job: '4751.vpic_io.u884',
          user: 'aosei',
          file: 'ckpt.h5',
          clients: [1, 2, 3, 4],
          processes: 8,
          pattern: 'strided',
          size_bytes: 188_032,
          pace: { kind: 'bursts', operations: 2, every_s: 20 },
        },
        {
          job: '4752.mesh.u97',
          user: 'jroy',
          file: 'run.log',
          clients: [5, 6],
          pattern: 'append',
          size_bytes: 512,
          pace: { kind: 'continuous', think_ms: 1000 },
        },
      ],
    },
    haechi: [
      {
        name: 'dn0',
        global_iops: 800,
        local_iops: 400,
        batch: 20,
        slack: 8,
        clients: [
          {
            name: 'c01',
            job: '4761.kvstore.u884',
            reservation: 200,
            limit: 300,
            workload: { kind: 'constant', per_period: 180 },
          },
          { name: 'c02', job: '4762.graph.u97', reservation: 150, workload: { kind: 'poisson', per_s: 140 } },
          {
            name: 'c03',
            job: '4763.train.u1021',
            reservation: 100,
            workload: { kind: 'on-off', on_ms: 4000, off_ms: 3000, per_s: 160 },
          },
          { name: 'c04', job: '4764.ingest.u512', workload: { kind: 'backlogged' } },
        ],
      },
    ],
    faults: faultsOf(plan, random),
    jobs,
  })
}
