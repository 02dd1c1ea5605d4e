/** What reading a cluster costs it. */
import type { Meaning } from '../meaning.ts'

export const connectionsMeanings = [
  {
    id: 'connections.cost',
    title: 'What Sluice costs',
    unit: 'KB/s \u00B7 ms a second',
    means:
      'Text that all servers of the cluster send for the probes that are on, and their time for it: of the CPU where it can be told, else until the answer.',
    formula: 'sum over probes of bytes / s and of server time / s',
    source: 'measured with every reading',
    caveat: 'Above 100 KB/s a server the costlier probes slow down by themselves, and say so.',
  },
  {
    id: 'connections.probe',
    title: 'Probe',
    unit: 'KB/s \u00B7 ms a second',
    means: 'One kind of reading with its own interval. Off: its numbers keep their last value and their age.',
    formula: 'bytes of its answers / s; its share of server time / s',
    source: 'measured with every reading',
  },
] as const satisfies readonly Meaning[]
