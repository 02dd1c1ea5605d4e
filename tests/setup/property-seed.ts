/**
 * Seed of every property test: the same in each run, so that a run tests the change at hand and can be repeated.
 * `SLUICE_FC_SEED=random npm test` explores with new seeds, `SLUICE_FC_SEED=N` repeats one that failed.
 */
import fc from 'fast-check'

const asked = process.env['SLUICE_FC_SEED'] ?? '20261121'
if (asked !== 'random') fc.configureGlobal({ seed: Number(asked) | 0 })
