/** Servers of a fork in the scenario's format: releases, CPTs, policies and rules as printed, devices as fitted. */
import type { ForkInputs, ForkRule, ForkServer } from './fork-inputs.ts'
import type { FittedDevice } from './fork-device.ts'
import { meanOr0 } from './fork-series.ts'
import { OST_IO_POLICIES, OTHER_POLICIES } from '../tbf/policy-command.ts'
import { profileOf } from '../lustre/profile.ts'
import { parseVersion } from '../lustre/version.ts'
import { NrsService } from '../tbf/nrs-service.ts'

const MDT_US = 220
const MDT_CHANNELS = 8
const THREADS = { least: 16, most: 4_096 } as const
/** Default release if unknown. */
export const UNKNOWN_RELEASE = '2.17.57'
const RULES_MAX = 5_000
/** Default RPC size without reads or writes, bytes. */
const SIZE = 1 << 20

export interface Names {
  readonly servers: ReadonlyMap<string, string>
  readonly targets: ReadonlyMap<string, string>
}

const round = (n: number): number => Number(n.toPrecision(4))

function serviceOf(server: ForkServer, service: ForkRule['service']): NrsService<never> {
  const policies = service === 'ost_io' ? OST_IO_POLICIES : OTHER_POLICIES
  const profile = profileOf(parseVersion(server.version ?? UNKNOWN_RELEASE))
  return new NrsService({ cpts: 1, hp: service !== 'mdt_readpage', policies, profile })
}

/** Policy of a server if the scenario supports it, else fifo. */
export function playedPolicy(server: ForkServer): string {
  if (!/^(fifo|tbf)( |$)/.test(server.policy)) return 'fifo'
  return serviceOf(server, server.kind === 'oss' ? 'ost_io' : 'mdt').writePolicies(server.policy).ok
    ? server.policy
    : 'fifo'
}

/** Policy of most OSSes. */
export function commonPolicy(servers: readonly ForkServer[]): string {
  const count = new Map<string, number>()
  for (const s of servers) if (s.kind === 'oss') count.set(playedPolicy(s), (count.get(playedPolicy(s)) ?? 0) + 1)
  return [...count].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'fifo'
}

/** Mean bytes of a read or write. */
function sizeOf({ jobs }: Pick<ForkInputs, 'jobs'>): number {
  let bytes = 0
  let rpcs = 0
  for (const j of jobs) {
    const n = meanOr0(j.rpcs)
    bytes += meanOr0(j.readBps) + meanOr0(j.writeBps)
    rpcs += n
  }
  return rpcs > 0 && bytes > 0 ? bytes / rpcs : SIZE
}

/** At the mean size, half of the service time is per operation, half per byte. */
function diskText(d: FittedDevice, bytes: number): Record<string, number> {
  const halfS = d.serviceS / 2
  return {
    bandwidth_mb_s: round(Math.min(1e9, Math.max(0.001, (bytes * d.channels) / halfS / 1e6))),
    per_op_us: round(halfS * 1e6),
    channels: d.channels,
  }
}

export function serverTexts(
  inputs: ForkInputs,
  devices: ReadonlyMap<string, FittedDevice>,
  names: Names,
): { oss: unknown[]; mds?: unknown[] } {
  const bytes = sizeOf(inputs)
  const common = commonPolicy(inputs.servers)
  const head = (s: ForkServer): Record<string, unknown> => ({
    name: names.servers.get(s.name),
    version: s.version !== undefined && parseVersion(s.version) ? s.version : UNKNOWN_RELEASE,
    cpts: Math.min(64, Math.max(1, s.cpts ?? 1)),
    ...(playedPolicy(s) === common ? {} : { policy: playedPolicy(s) }),
  })
  const oss = inputs.servers.flatMap((s) => {
    const targets = s.kind === 'oss' ? inputs.targets.filter((t) => t.server === s.name) : []
    if (targets.length === 0) return []
    const osts = targets.map((t) => ({
      name: names.targets.get(t.name),
      disk: diskText(devices.get(t.name) as FittedDevice, bytes),
    }))
    const channels = targets.reduce((n, t) => n + (devices.get(t.name)?.channels ?? 1), 0)
    return [{ ...head(s), threads: Math.min(THREADS.most, Math.max(THREADS.least, 4 * channels)), osts }]
  })
  const mds = inputs.servers.flatMap((s) => {
    const targets = s.kind === 'mds' ? inputs.mdts.filter((t) => t.server === s.name) : []
    if (targets.length === 0) return []
    const mdts = targets.map((t) => ({
      name: names.targets.get(t.name),
      per_op_us: round(Number.isNaN(t.perOpUs) ? MDT_US : t.perOpUs),
      channels: MDT_CHANNELS,
    }))
    return [{ ...head(s), threads: Math.max(THREADS.least, 2 * MDT_CHANNELS * targets.length), mdts }]
  })
  return { oss, ...(mds.length > 0 ? { mds } : {}) }
}

/** Rules that the emulated releases accept, checked one by one; a refused rule is omitted on its server. */
export function takenRules(inputs: ForkInputs, names: Names): ForkRule[] {
  const services = new Map<string, NrsService<never>>()
  const serverOf = new Map(inputs.servers.map((s) => [`${s.kind} ${s.name}`, s]))
  const out: ForkRule[] = []
  for (const rule of inputs.rules) {
    const on = rule.servers.filter((name) => {
      const server = serverOf.get(`${rule.service === 'ost_io' ? 'oss' : 'mds'} ${name}`)
      const hasTargets = [...inputs.targets, ...inputs.mdts].some((t) => t.server === name)
      if (!server || !hasTargets) return false
      const key = `${rule.service} ${name}`
      let service = services.get(key)
      if (!service) {
        services.set(key, (service = serviceOf(server, rule.service)))
        service.writePolicies(playedPolicy(server))
      }
      return service.writeRule(rule.line).ok
    })
    if (on.length === 0 || out.length >= RULES_MAX) continue
    out.push({ ...rule, servers: on.map((n) => names.servers.get(n) as string) })
  }
  return out
}
