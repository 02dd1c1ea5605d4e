/** Explanations: monitoring overhead of a cluster. */
import type { Meaning } from '../meaning.ts'

export const connectionsMeanings = [
  {
    id: 'connections.cost',
    title: 'Monitoring overhead',
    unit: 'KB/s \u00B7 ms/s',
    means:
      'Bytes that all servers of the cluster send for enabled probes, and the time they spend: CPU time if measurable, else response time.',
    formula: 'sum over probes of bytes / s and of CPU or response time / s',
    source: 'measured with every reading',
    caveat: 'Above 100 KB/s per server the most expensive probes are throttled and marked.',
  },
  {
    id: 'connections.probe',
    title: 'Probe',
    unit: 'KB/s \u00B7 ms/s',
    means: 'One kind of reading with its own interval. If off, its numbers keep their last value and age.',
    formula: 'response bytes / s; its share of CPU or response time / s',
    source: 'measured with every reading',
  },
] as const satisfies readonly Meaning[]
