/** Virtual time for tests of the control plane: ordered events, and programs with timers. */
interface Timed {
  tick(nowNs: number): void
  nextNs(): number
}

interface Event {
  readonly atNs: number
  readonly seq: number
  readonly act: () => void
}

export class Clock {
  nowNs = 0
  #seq = 0
  #still = 0
  #heap: Event[] = []
  readonly programs = new Set<Timed>()
  /** Called after every event. */
  onStep: () => void = () => undefined

  after(ns: number, act: () => void): void {
    const e = { atNs: this.nowNs + ns, seq: ++this.#seq, act }
    const heap = this.#heap
    let i = heap.push(e) - 1
    while (i > 0) {
      const up = (i - 1) >> 1
      if (!this.#before(e, heap[up]!)) break
      heap[i] = heap[up]!
      i = up
    }
    heap[i] = e
  }

  #before(a: Event, b: Event): boolean {
    return a.atNs < b.atNs || (a.atNs === b.atNs && a.seq < b.seq)
  }

  #take(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (!first || !last || first === last) return first
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && this.#before(heap[child + 1]!, heap[child]!)) child++
      if (!this.#before(heap[child]!, last)) break
      heap[i] = heap[child]!
      i = child
    }
    heap[i] = last
    return first
  }

  run(untilNs: number): void {
    for (;;) {
      let next: Timed | undefined
      let nextNs = Infinity
      for (const program of this.programs) {
        const at = program.nextNs()
        if (at < nextNs) {
          nextNs = at
          next = program
        }
      }
      const event = this.#heap[0]
      const atNs = Math.max(this.nowNs, Math.min(nextNs, event?.atNs ?? Infinity))
      if (atNs > untilNs) break
      if (atNs > this.nowNs) this.#still = 0
      else if (++this.#still > 1e5) throw new Error('a program asks for the same instant for ever')
      this.nowNs = atNs
      if (event && event.atNs <= nextNs) this.#take()!.act()
      else next?.tick(atNs)
      this.onStep()
    }
    this.nowNs = untilNs
  }
}
