/** Device of the virtual network: writes take effect when the schedule decides, in order per object, and SNs never decrease. */
import { invariant } from '#core/base/result.ts'
import { MemoryDevice, type Device } from '#core/seqdlm/device.ts'
import type { Block, ResourceId } from '#core/seqdlm/messages.ts'

interface Write {
  readonly blocks: readonly Block[]
  readonly done: () => void
}

export class VirtualDevice implements Device {
  readonly #memory = new MemoryDevice(true)
  readonly #bound: number
  readonly #pending = new Map<ResourceId, Write[]>()
  readonly #sns = new Map<ResourceId, Float64Array>()

  /** @param bound  bytes of an object whose SNs are checked. */
  constructor(bound: number) {
    this.#bound = bound
  }

  /** Objects with a pending write. */
  *pending(): Generator<ResourceId, void, void> {
    for (const [resource, writes] of this.#pending) if (writes.length > 0) yield resource
  }

  write(resource: ResourceId, blocks: readonly Block[], done: () => void): void {
    const writes = this.#pending.get(resource)
    if (writes === undefined) this.#pending.set(resource, [{ blocks, done }])
    else writes.push({ blocks, done })
  }

  read(resource: ResourceId, start: number, end: number, done: (data: Uint8Array | null) => void): void {
    this.#memory.read(resource, start, end, done)
  }

  size(resource: ResourceId): number {
    return this.#memory.size(resource)
  }

  /** Completes the oldest write of an object. */
  complete(resource: ResourceId): void {
    const write = this.#pending.get(resource)?.shift()
    if (write === undefined) return
    let sns = this.#sns.get(resource)
    if (sns === undefined) this.#sns.set(resource, (sns = new Float64Array(this.#bound)))
    for (const { start, end, sn } of write.blocks) {
      for (let at = start; at < Math.min(end, this.#bound); at++) {
        invariant((sns[at] as number) <= sn, `I5: byte ${resource}:${at} of SN ${sns[at]} overwritten by SN ${sn}`)
        sns[at] = sn
      }
    }
    this.#memory.write(resource, write.blocks, write.done)
  }

  /** Crashes the server, losing its unwritten data. */
  crash(): void {
    this.#pending.clear()
  }
}
