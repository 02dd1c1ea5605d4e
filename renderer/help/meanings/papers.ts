/** The figures of the papers and their claims: what was published, what a run of the emulator measures, what must hold. */
import type { Meaning } from '../meaning.ts'

export const papersMeanings = [
  {
    id: 'papers.published',
    title: 'Published',
    unit: 'as in the paper',
    means: 'The figure that the paper gives, in its text or read from its plot.',
    formula: '',
    source: 'the paper, at the place that stands beside it',
    caveat: 'A figure that was read from a plot is as exact as the plot.',
  },
  {
    id: 'papers.measured',
    title: 'Measured',
    unit: 'that of the published figure',
    means: 'The same figure of this run: the emulator plays the experiment of the paper, on every seed.',
    formula: 'median over the seeds',
    source: 'the model, every request of every seed',
    caveat: 'The devices and links are those of the model: what must agree is the relation, which the bound says.',
  },
  {
    id: 'papers.seeds',
    title: 'Seeds',
    unit: 'lowest to highest',
    means: 'Between what the seed with the least and the one with the most measured. Empty where all agree.',
    formula: 'min to max over the seeds',
    source: 'the model',
  },
  {
    id: 'papers.bound',
    title: 'Bound',
    unit: '',
    means: 'What a reproduction must keep to hold the claim. Without one, the figure is shown only.',
    formula: 'measured \u2265, <= or between',
    source: 'this console, beside each claim',
  },
  {
    id: 'papers.result',
    title: 'Result',
    unit: '',
    means:
      'Whether the measured figure keeps the bound. Where it does not, the reason stands below, if one is on record.',
    formula: 'measured within the bound',
    source: 'this run',
  },
  {
    id: 'papers.timeline',
    title: 'Timeline',
    unit: 'of the head',
    means:
      'What each job or measure did in the first seed, over the time of the experiment. Stacked where the parts add up.',
    formula: 'mean of each bin; its width stands in the head',
    source: 'the model, first seed',
    caveat: 'Other seeds are in the claims, not in the picture.',
  },
  {
    id: 'papers.bars',
    title: 'Bars',
    unit: 'of the head',
    means: 'One bar for each system or setting, grouped as the figure of the paper is.',
    formula: 'one value for each setting',
    source: 'the model, first seed',
    caveat: 'Signed where the unit is %: below the line it is a loss.',
  },
] as const satisfies readonly Meaning[]
