/** What Sluice adds to AdapTBF. Every one is off by default and has a name, so that a figure says what produced it. */

/** What one extension is and what it changes against the paper. */
export interface Extension {
  readonly name: ExtensionName
  /** allocator and controller: on any cluster; server: only inside the scheduler, that is on the emulated OST. */
  readonly where: 'allocator' | 'controller' | 'server'
  readonly changes: string
}

export const EXTENSION_NAMES = ['spill', 'autoT', 'overdraft', 'min'] as const
export type ExtensionName = (typeof EXTENSION_NAMES)[number]

/** The extensions, with what each does to the paper's algorithm. */
export const EXTENSIONS: readonly Extension[] = [
  {
    name: 'spill',
    where: 'server',
    changes:
      'A device without work takes the RPC with the nearest deadline although no token is due; the queue then owes at most 3 ' +
      'tokens. The paper leaves the device idle (IV-E3). Rates, allocations and records stay as they are.',
  },
  {
    name: 'autoT',
    where: 'controller',
    changes:
      'The largest token rate T follows what the device can serve, from its busy time. In the paper T is a constant that ' +
      'somebody measured.',
  },
  {
    name: 'overdraft',
    where: 'controller',
    changes:
      'A part of the tokens that are expected to stay unused is given a second time, to jobs with RPCs waiting, by nodes and ' +
      'outside the records. Rates may then sum to more than T.',
  },
  {
    name: 'min',
    where: 'allocator',
    changes:
      'Equation (13) takes min(1, u) instead of max(1, u), so the coefficient is a part of 1 and an idle lender is paid back ' +
      'less. Lenders keep larger records.',
  },
]
