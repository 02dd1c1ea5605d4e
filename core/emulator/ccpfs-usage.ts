/** Usage of a file as applications see it: bytes written and read, and the busy time of each. */

/** Time during which at least one of many is under way, ns. */
export class BusyTime {
  #active = 0
  #since = 0
  #ns = 0

  begin(now: number): void {
    if (this.#active++ === 0) this.#since = now
  }

  end(now: number): void {
    if (--this.#active === 0) this.#ns += now - this.#since
  }

  until(now: number): number {
    return this.#ns + (this.#active > 0 ? now - this.#since : 0)
  }
}

export class FileUsage {
  readonly writing = new BusyTime()
  readonly reading = new BusyTime()
  writtenBytes = 0
  readBytes = 0

  begin(isWrite: boolean, now: number): void {
    ;(isWrite ? this.writing : this.reading).begin(now)
  }

  /** @param bytes  0 for an operation that failed or whose client is gone. */
  end(isWrite: boolean, bytes: number, now: number): void {
    ;(isWrite ? this.writing : this.reading).end(now)
    if (isWrite) this.writtenBytes += bytes
    else this.readBytes += bytes
  }
}
