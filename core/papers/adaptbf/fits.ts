/** Constants of the AdapTBF experiments that the paper does not give, and what they were chosen by. */
import type { Fit } from '../experiment.ts'

export const T_FIT: Fit = {
  constant: 'T',
  value: 'the capacity of the device',
  fittedTo: 'shares of 10, 10, 30 and 50 % while all jobs run (IV-D, Figure 3c)',
  outOfSample:
    'T-sensitivity: the shares stay within 1 point below the capacity; Job4 falls from 50 to 48, 44, 35 and 24 % with T 5, 10, ' +
    '20 and 50 % above it.',
}

export const OST_RATE_FIT: Fit = {
  constant: 'rate of the OST',
  value: '500 RPC/s of 1 MiB',
  fittedTo: 'the order of one SATA SSD of Table II; the paper gives no bandwidth',
  outOfSample: 'claims are ratios of rates; IV-F runs at 250 RPC/s and gives the same orderings.',
}

export const BURST_FIT: Fit = {
  constant: 'burst sizes, pauses and starts',
  value: 'in the setup',
  fittedTo:
    'nothing published: “varying burst volumes and intervals”, chosen so that the bursts of the jobs are distinguishable',
  outOfSample:
    'adaptbf.burst-sizes: with bursts of half the size the gain over Static BW becomes a loss, with twice the size all gains ' +
    'grow.',
}

export const JOB4_FIT: Fit = {
  constant: 'rate of the OST in IV-F',
  value: '250 RPC/s',
  fittedTo: 'Job4 still runs when Job3 returns at 80 s (Figure 7): at 500 RPC/s its 16 GiB end before',
  outOfSample: 'IV-F-endless at 500 RPC/s: records behave alike, but Job4 loses 46 % instead of 12 %.',
}

export const ENDLESS_FIT: Fit = {
  constant: 'files without an end, 120 s',
  value: '500 RPC/s',
  fittedTo: 'Job4 still runs when Job3 returns at 80 s (Figure 7), with a fast OST; the paper’s files have 1 GB',
  outOfSample: 'IV-F with 1 GiB files: the gains of Jobs 1 to 3 over No BW are 13 to 43 % of these.',
}
