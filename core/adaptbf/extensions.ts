/** Extensions of AdapTBF by Sluice. Each is off by default and has a name, so that results can state what produced them. */

/** One extension and its difference from the paper. */
export interface Extension {
  readonly name: ExtensionName
  /** allocator and controller: on any cluster; server: only inside the scheduler, that is, on the emulated OST. */
  readonly where: 'allocator' | 'controller' | 'server'
  readonly changes: string
}

export const EXTENSION_NAMES = ['spill', 'autoT', 'overdraft', 'min'] as const
export type ExtensionName = (typeof EXTENSION_NAMES)[number]

/** All extensions, with their effect on the paper's algorithm. */
export const EXTENSIONS: readonly Extension[] = [
  {
    name: 'spill',
    where: 'server',
    changes:
      'An idle device takes the RPC with the earliest deadline although no token is due; the queue then owes at most 3 ' +
      'tokens. The paper leaves the device idle (IV-E3). Rates, allocations and records are unchanged.',
  },
  {
    name: 'autoT',
    where: 'controller',
    changes:
      'The largest token rate T adapts to the capacity of the device, based on its busy time. In the paper T is a measured ' +
      'constant.',
  },
  {
    name: 'overdraft',
    where: 'controller',
    changes:
      'A share of the tokens expected to stay unused is allocated twice, to jobs with RPCs waiting, by nodes and ' +
      'outside the records. Rates may then sum to more than T.',
  },
  {
    name: 'min',
    where: 'allocator',
    changes:
      'Equation (13) uses min(1, u) instead of max(1, u), so the coefficient is at most 1 and an idle lender is repaid ' +
      'less. Lenders keep larger records.',
  },
]
