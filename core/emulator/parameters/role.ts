/**
 * Roles of a node (OSS, MDS, client or several of them), and its Lustre as a whole.
 *
 * lctl builds its tree of files once for each list, so a list keeps its identity until a file is added or removed.
 */
import type { LustreSide, ObdDevice } from '../lctl/host.ts'
import type { Parameter } from '../parameter.ts'
import { device, devicesParameter, uuidOf } from './devices.ts'
import { ldlmParameters, type LocksOf, type Namespace } from './ldlm.ts'
import type { loadedModule } from '../../tbf/tbf-module.ts'
import { file, numberLine } from './file.ts'
import { nodeParameters, type NodeState } from './node.ts'
import { serviceParameters, type ServiceView } from './services.ts'

/** Kernel module loaded on a server. */
type Module = ReturnType<typeof loadedModule>

const MODULE_KEYS = { tbf_depth: 'depth', tbf_jobid_cache_size: 'jobidCacheSize', tbf_rate: 'rate' } as const

/**
 * `tbf_rate`, `tbf_depth`, `tbf_jobid_cache_size`: parameters of the kernel module that schedules (spec/lustre 2.2). Writes change the
 * module object that its services read.
 */
const moduleParameters = (module: Module): Parameter[] =>
  Object.entries(MODULE_KEYS).map(([name, key]) =>
    file(
      'module',
      [name],
      numberLine(
        () => module[key],
        (n) => {
          module[key] = n
        },
      ),
    ),
  )

export interface Role {
  /** Lists of files; each keeps its identity until a file is added or removed. */
  readonly parameters: () => readonly (readonly Parameter[])[]
  /** Devices in order of set-up; `lateDevices` follow when everything is mounted. */
  readonly devices: () => readonly ObdDevice[]
  readonly lateDevices?: () => readonly ObdDevice[]
  readonly namespaces: readonly Namespace[]
  readonly lateNamespaces?: readonly Namespace[]
}

/** List that is rebuilt whenever its key changes. */
export function growing(key: () => unknown, make: () => readonly Parameter[]): () => readonly Parameter[] {
  let last: { readonly key: unknown; readonly list: readonly Parameter[] } | undefined
  return () => {
    const now = key()
    if (!last || last.key !== now) last = { key: now, list: make() }
    return last.list
  }
}

export interface LustreOptions {
  readonly node: NodeState
  readonly roles: readonly Role[]
  readonly module: Module
  /** Services of the lock manager. */
  readonly services: readonly ServiceView[]
  /** NID of the MGS, and whether this node is the MGS. */
  readonly mgsNid: string
  readonly isMgs?: boolean
  /** Absent if locks are not emulated. */
  readonly locksOf?: LocksOf
}

/** Lustre on a node, as lctl sees it. */
export function lustreSide(options: LustreOptions): Pick<LustreSide, 'version' | 'parameters' | 'devices'> {
  const { node, roles, mgsNid, isMgs = false } = options
  const mgc = `MGC${mgsNid}`
  const devices = (): ObdDevice[] => {
    const targetDevices = roles.flatMap((r) => r.devices())
    const management = [
      ...(isMgs ? [device(node, 'mgs', 'MGS', 'MGS', { exports: 1 })] : []),
      device(node, 'mgc', mgc, uuidOf(`${mgc} of ${node.version}`)),
    ]
    // A server sets up the backend of its first target before it contacts the MGS.
    const first = targetDevices[0]?.type.startsWith('osd-') ? 1 : 0
    const late = roles.flatMap((r) => r.lateDevices?.() ?? [])
    return [...targetDevices.slice(0, first), ...management, ...targetDevices.slice(first), ...late]
  }
  const namespaces: Namespace[] = [
    { name: mgc, side: 'server connection' },
    ...(isMgs ? [{ name: 'MGS', side: 'server' as const }] : []),
    ...roles.flatMap((r) => r.namespaces),
    ...roles.flatMap((r) => r.lateNamespaces ?? []),
  ]
  const fixed = [
    ...nodeParameters(node),
    ...moduleParameters(options.module),
    ...ldlmParameters(node, namespaces, options.locksOf ?? (() => undefined)),
    ...options.services.flatMap((s) => serviceParameters(node, s)),
    devicesParameter(node, devices),
  ]
  let last: { readonly lists: readonly (readonly Parameter[])[]; readonly all: readonly Parameter[] } | undefined
  return {
    version: node.version,
    devices,
    parameters: () => {
      const lists = roles.flatMap((r) => r.parameters())
      if (!last || lists.some((l, i) => l !== last?.lists[i])) last = { lists, all: [...fixed, ...lists.flat()] }
      return last.all
    },
  }
}
