/**
 * Parameters of a client: its connections to targets.
 *
 * Source: spec/lustre 6.8; accepted and refused values from the answers of running clients.
 */
import { formatRpcStats, modifyRows, rpcSections, type RpcStats } from '../../lustre/rpc-stats.ts'
import type { RpcHistograms } from '../io-histograms.ts'
import type { Parameter } from '../parameter.ts'
import { device, uuidOf } from './devices.ts'
import { file, storedNumber, line, numberLine, text, written, type FileOps } from './file.ts'
import type { NodeState } from './node.ts'
import type { Role } from './role.ts'
import { targetObdParameter } from './target-obd.ts'

/** Upper limit of max_rpcs_in_flight (OBD_MAX_RIF_MAX). */
const MAX_RPCS_IN_FLIGHT = 256
/** Dirty data limit per OST of a client with enough memory, MiB. */
const MAX_DIRTY_MB = 2000

/** A connection to a target. */
export interface ConnectionView {
  readonly type: 'osc' | 'mdc'
  /** `testfs-OST0000`, and the NID of its server. */
  readonly target: string
  readonly serverNid: string
  /** Slots for RPCs; a write takes effect at once. */
  maxRpcsInFlight: number
  /** RPCs in flight by kind. */
  readonly underWay: Readonly<Record<'read' | 'write' | 'modify', number>>
  readonly histograms: RpcHistograms
}

export interface ClientView {
  readonly fsname: string
  /** Mount instance: `ffff88811a870800`. */
  readonly instance: string
  readonly connections: readonly ConnectionView[]
}

/** Instance of a mount: a kernel address of the client. */
export const instanceOf = (seed: string): string => `ffff8881${uuidOf(seed).slice(0, 5)}000`

function rpcStatsFile(node: NodeState, c: ConnectionView): FileOps {
  const dialect = node.profile.text.histogram
  const stats = (): RpcStats => ({
    times: node.times(c.histograms.startNs),
    modify: c.type === 'mdc' ? { inFlight: c.underWay.modify, rows: modifyRows(c.histograms.modifyCounts) } : undefined,
    gauges: {
      read: c.underWay.read,
      write: c.underWay.write,
      // Emulated reads and writes are sent directly, like direct I/O: no page is cached.
      ...(c.type === 'osc' && dialect.rpcLatency ? { dio: c.underWay.read + c.underWay.write } : {}),
      pendingWritePages: 0,
      pendingReadPages: 0,
    },
    sections: rpcSections(c.histograms.counts, c.type, dialect),
  })
  return text(
    () => formatRpcStats(stats(), dialect),
    () => {
      c.histograms.clear(node.clock())
      return written
    },
  )
}

const nameOf = (client: ClientView, c: ConnectionView): string => `${c.target}-${c.type}-${client.instance}`

function connectionParameters(node: NodeState, client: ClientView, c: ConnectionView): Parameter[] {
  const name = nameOf(client, c)
  const uuid = uuidOf(`${client.fsname} ${client.instance}`)
  const at = (attribute: string, ops: FileOps): Parameter => file('sysfs', [c.type, name, attribute], ops)
  return [
    at('active', storedNumber(1, { max: 1 })),
    at(
      'max_rpcs_in_flight',
      numberLine(
        () => c.maxRpcsInFlight,
        (n) => {
          c.maxRpcsInFlight = n
        },
        { min: 1, max: MAX_RPCS_IN_FLIGHT, outside: 'ERANGE' },
      ),
    ),
    ...(c.type === 'osc' ? [at('max_dirty_mb', storedNumber(MAX_DIRTY_MB))] : []),
    at('max_pages_per_rpc', storedNumber(1024, { min: 1, max: 16_384, outside: 'ERANGE' })),
    at(
      `${c.type === 'osc' ? 'ost' : 'mds'}_conn_uuid`,
      line(() => c.serverNid),
    ),
    at(
      'uuid',
      line(() => uuid),
    ),
    file(node.procThenDebugfs, [c.type, name, 'rpc_stats'], rpcStatsFile(node, c)),
  ]
}

/** Role of a client node. */
export function clientRole(node: NodeState, client: ClientView): Role {
  const osts = client.connections.filter((c) => c.type === 'osc').map((c) => c.target)
  const fixed = [
    ...client.connections.flatMap((c) => connectionParameters(node, client, c)),
    targetObdParameter(`${client.fsname}-clilov-${client.instance}`, osts),
  ]
  const uuid = uuidOf(`${client.fsname} ${client.instance}`)
  return {
    parameters: () => [fixed],
    devices: () => [
      device(node, 'lov', `${client.fsname}-clilov-${client.instance}`, uuid),
      device(node, 'lmv', `${client.fsname}-clilmv-${client.instance}`, uuid),
      ...client.connections.map((c) => device(node, c.type, nameOf(client, c), uuid, { peer: c.serverNid })),
    ],
    namespaces: client.connections.map((c) => ({ name: nameOf(client, c), side: 'client' })),
  }
}
