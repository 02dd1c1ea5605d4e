/**
 * Samples of a node for views, once a millisecond or at another interval: bounded columns that overwrite their oldest rows (spec/haechi
 * 11). A reader takes every k-th row, so that 20 rows a second cost 20 rows.
 */
export const CLIENT_COLUMNS = ['xi', 'g', 'bound', 'phase', 'queued', 'inflight', 'completed', 'yielded'] as const
export type ClientColumn = (typeof CLIENT_COLUMNS)[number]
/** State of a node at one time. Tokens and I/Os; ns. */
export interface NodeSample {
  readonly t: number
  readonly epoch: number
  /** POOL, signed. */
  readonly pool: number
  /** L and the target of the last conversion. */
  readonly residual: number
  readonly target: number
  readonly omega: number
  /** U so far. */
  readonly used: number
  readonly reserved: number
  readonly claimed: number
  /** Mean of W; 0 while it is empty. */
  readonly history: number
  readonly isReporting: number
}

export interface ClientSample {
  xi: number
  g: number
  /** X. */
  bound: number
  /** 1 or 2; 0 for a client that is gone or without QoS. */
  phase: number
  queued: number
  inflight: number
  /** N. */
  completed: number
  yielded: number
}

export interface SampleRow {
  readonly node: NodeSample
  readonly clients: readonly ClientSample[]
}

const NODE_FIELDS = [
  ...(['t', 'epoch', 'pool', 'residual', 'target', 'omega', 'used', 'reserved', 'claimed', 'history'] as const),
  'isReporting',
] as const satisfies readonly (keyof NodeSample)[]

export class TokenSamples {
  readonly rows: number
  readonly clients: number
  readonly #width: number
  readonly #data: Float64Array
  #taken = 0

  /** @param clients  most clients sampled; further ones are omitted. */
  constructor(rows: number, clients: number) {
    this.rows = rows
    this.clients = clients
    this.#width = NODE_FIELDS.length + clients * CLIENT_COLUMNS.length
    this.#data = new Float64Array(rows * this.#width)
  }

  /** Rows ever written. */
  get taken(): number {
    return this.#taken
  }

  /** Writes a row; `client(i)` is called for each of `count` clients and may return the same object every time. */
  write(node: NodeSample, count: number, client: (index: number) => ClientSample): void {
    if (this.rows === 0) return
    const data = this.#data
    const from = (this.#taken++ % this.rows) * this.#width
    // Written field by field, in the order of the columns: a loop over names costs a tenth of a simulated second.
    data[from] = node.t
    data[from + 1] = node.epoch
    data[from + 2] = node.pool
    data[from + 3] = node.residual
    data[from + 4] = node.target
    data[from + 5] = node.omega
    data[from + 6] = node.used
    data[from + 7] = node.reserved
    data[from + 8] = node.claimed
    data[from + 9] = node.history
    data[from + 10] = node.isReporting
    let at = from + NODE_FIELDS.length
    const shown = Math.min(count, this.clients)
    for (let i = 0; i < shown; i++) {
      const sample = client(i)
      data[at] = sample.xi
      data[at + 1] = sample.g
      data[at + 2] = sample.bound
      data[at + 3] = sample.phase
      data[at + 4] = sample.queued
      data[at + 5] = sample.inflight
      data[at + 6] = sample.completed
      data[at + 7] = sample.yielded
      at += CLIENT_COLUMNS.length
    }
    data.fill(0, at, from + this.#width)
  }

  /** Returns every `every`-th of the newest `last` rows, oldest first. */
  read(last: number, every = 1): SampleRow[] {
    const count = Math.min(this.#taken, this.rows, last)
    const rows: SampleRow[] = []
    // Rows are selected by their number since the start, so that repeated reads return the same ones.
    const from = Math.ceil((this.#taken - count) / every) * every
    for (let row = from; row < this.#taken; row += every) rows.push(this.#row(row))
    return rows
  }

  /** Numbers of the rows kept: [first, end). */
  get kept(): { readonly first: number; readonly end: number } {
    return { first: Math.max(0, this.#taken - this.rows), end: this.#taken }
  }

  /** One value of a kept row. */
  nodeValue(row: number, field: keyof NodeSample): number {
    return this.#data[(row % this.rows) * this.#width + NODE_FIELDS.indexOf(field)] as number
  }

  clientValue(row: number, client: number, column: ClientColumn): number {
    const at = NODE_FIELDS.length + client * CLIENT_COLUMNS.length + CLIENT_COLUMNS.indexOf(column)
    return this.#data[(row % this.rows) * this.#width + at] as number
  }

  /** The newest row. */
  get newest(): SampleRow | undefined {
    return this.#taken === 0 || this.rows === 0 ? undefined : this.#row(this.#taken - 1)
  }

  #row(row: number): SampleRow {
    let at = (row % this.rows) * this.#width
    const next = (): number => this.#data[at++] as number
    const node = Object.fromEntries(NODE_FIELDS.map((f) => [f, next()])) as unknown as NodeSample
    const clients = Array.from(
      { length: this.clients },
      () => Object.fromEntries(CLIENT_COLUMNS.map((c) => [c, next()])) as unknown as ClientSample,
    )
    return { node, clients }
  }
}
