/**
 * One server: its lock service, its IO service, and its internal client that requests locks when the extent cache is
 * full.
 */
import type { Result } from '../base/result.ts'
import { DataServer } from './data-server.ts'
import type { Device } from './device.ts'
import type { ExtentLog } from './extent-log.ts'
import type { LockObserver } from './lock-events.ts'
import { LockServer } from './lock-server.ts'
import {
  isOrdered,
  type ClientId,
  type FromLockServer,
  type ResourceId,
  type ToClient,
  type ToDataServer,
  type ToLockServer,
  type ToServer,
} from './messages.ts'
import type { DlmPolicy } from './policy.ts'
import { WHOLE } from './ranges.ts'

export interface ServerHost {
  readonly policy: DlmPolicy
  /** Passes a message on for delivery; it must not be delivered before the call that caused it has returned. */
  readonly send: (client: ClientId, message: ToClient) => void
  /** Integer ns. */
  readonly now: () => number
  /** Runs a task later, after pending work: cleaning, and the server's messages to itself. */
  readonly defer: (task: () => void) => void
  readonly device: Device
  readonly log?: ExtentLog | undefined
  readonly observe?: LockObserver | undefined
  /** Counts the restarts of this server. */
  readonly epoch?: number | undefined
  /** Entries of the extent cache above which cleaning starts. */
  readonly threshold?: number | undefined
}

/** Internal client of each server (A21). */
export const SYNC_CLIENT: ClientId = -1

export class ServerNode {
  readonly locks: LockServer
  readonly data: DataServer
  readonly #host: ServerHost
  #syncReqId = 0

  constructor(host: ServerHost) {
    this.#host = host
    const { policy, now, observe, epoch, device, log, threshold, defer } = host
    this.locks = new LockServer({
      policy,
      now,
      observe,
      epoch,
      send: (client, message) => {
        if (client === SYNC_CLIENT) defer(() => this.#toSelf(message))
        else host.send(client, message)
      },
    })
    this.data = new DataServer({
      device,
      log,
      threshold,
      defer,
      send: host.send,
      minSn: (resource, start, end) => this.locks.minSn(resource, start, end),
      forceSync: (resource) => this.#forceSync(resource),
    })
  }

  /** Handles one message; a failure is the reason that it had no effect. */
  receive(client: ClientId, message: ToServer): Result<void> {
    return isOrdered(message)
      ? this.locks.receive(client, message as ToLockServer)
      : this.data.receive(client, message as ToDataServer)
  }

  /** Drops a client whose connection is closed. */
  evict(client: ClientId): void {
    this.data.evict(client)
    this.locks.evict(client)
  }

  /** Recovers after a crash, with the device and the log from before it (spec/seqdlm 11). */
  recover(clients: Iterable<ClientId>): void {
    this.data.recover()
    this.locks.recover(clients, this.#host.log?.highestSn ?? new Map<ResourceId, number>())
  }

  #forceSync(resource: ResourceId): void {
    const reqId = ++this.#syncReqId
    this.locks.receive(SYNC_CLIENT, { kind: 'lock-request', resource, reqId, range: WHOLE, mode: 'PR' })
  }

  #toSelf(message: FromLockServer): void {
    // Its locks are released as soon as they are granted, so a revocation needs no action.
    if (message.kind !== 'lock-grant') return
    const { resource, lockId } = message
    this.data.synced(resource)
    this.locks.receive(SYNC_CLIENT, { kind: 'release', resource, lockId })
  }
}
