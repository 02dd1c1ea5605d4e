/** The status bar and the time strip. */
import type { Meaning } from '../meaning.ts'

export const statusMeanings = [
  {
    id: 'status.source',
    title: 'Source',
    unit: '',
    means:
      'What is on screen: LIVE from servers, PAUSED at an instant, RECORDED from a file or the store, EMULATED by the model.',
    formula: '',
    source: 'the host',
  },
  {
    id: 'status.age',
    title: 'Age of the newest sample',
    unit: 's of wall time',
    means: 'How long ago the newest sample arrived. Amber from twice the interval on, vermillion from five times on.',
    formula: 'now \u2212 arrival',
    source: 'clock of the host',
  },
  {
    id: 'status.servers',
    title: 'Servers',
    unit: 'answering / in all',
    means: 'Servers that answered in the newest sample. With one missing, totals are \u2265: the others are measured.',
    formula: 'k / n',
    source: 'the newest sample',
  },
  {
    id: 'status.cost',
    title: 'Probe cost',
    unit: 'KB/s \u00B7 ms a second',
    means: 'What reading costs: text received from the servers, and time that they spent answering.',
    formula: 'bytes / s; sum of answer times / s, over the last second',
    source: 'measured with every reading',
  },
  {
    id: 'status.cycle',
    title: 'Cycle',
    unit: 'ms',
    means: 'One round of reading, parsing, deciding and writing, mean of the last second.',
    formula: 'collect + parse + allocate + apply',
    source: 'AdapTBF IV-G reports about 25 ms',
    caveat: 'Nodes are asked at once and wait for each other: their times to collect overlap.',
  },
  {
    id: 'status.history',
    title: 'History',
    unit: '',
    means: 'Whether samples go to the local store, or are kept in memory only.',
    formula: '',
    source: 'the host',
  },
  {
    id: 'status.staged',
    title: 'Staged changes',
    unit: 'changes',
    means: 'Changes that were prepared and not committed. No server has seen them.',
    formula: '',
    source: 'this console',
  },
  {
    id: 'status.audit',
    title: 'Audit',
    unit: 'number of the newest record',
    means: 'Everything that is sent is recorded first, in a chain of hashes that `sluice audit verify` follows.',
    formula: 'each record carries the hash of the one before',
    source: 'enforcement log of the data folder',
  },
] as const satisfies readonly Meaning[]
