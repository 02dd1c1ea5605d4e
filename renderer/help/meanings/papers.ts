/** Explanations of figures and claims of the papers: published and measured values, tolerance, verdict. */
import type { Meaning } from '../meaning.ts'

export const papersMeanings = [
  {
    id: 'papers.published',
    title: 'Published',
    unit: 'as in the paper',
    means:
      'Value or wording in the text of the paper, or a value read from its plot. For an advance: the value of the original rule in the same runs.',
    formula: '',
    source: 'the paper, at the cited place',
    caveat: 'Values read from a plot are only as exact as the plot.',
  },
  {
    id: 'papers.measured',
    title: 'Measured',
    unit: 'as published',
    means: 'The same value in this run: the emulator runs the experiment of the paper with every seed.',
    formula: 'median over the seeds',
    source: 'the model, every request of every seed',
    caveat: 'Devices and links are only a model, so absolute values may differ from those of a testbed.',
  },
  {
    id: 'papers.difference',
    title: 'Difference',
    unit: '%',
    means:
      'Distance of the measured value from the published one. Empty inside a published range or on the right side of an ordering.',
    formula:
      '(measured \u2212 published) / |published|, of a range or an ordering from its nearer end; without the division if 0 is published',
    source: 'this run',
  },
  {
    id: 'papers.tolerance',
    title: 'Tolerance',
    unit: '% of the published value, or its unit',
    means:
      'Difference up to which a value counts as reproduced. It is chosen from the text of the paper, not from what is measured; the tooltip has the reason. For an advance: its requirement.',
    formula:
      'for a printed number half of its last digit or 10 %, whichever is larger; for one read from a plot the precision of the reading; for parity 5 %; the spread of the paper where it has one; 0 for an ordering',
    source: 'this console, beside each claim',
  },
  {
    id: 'papers.seeds',
    title: 'Seeds',
    unit: 'lowest to highest',
    means: 'Range of the measured values over the seeds. Empty if all agree.',
    formula: 'min to max over the seeds',
    source: 'the model',
  },
  {
    id: 'papers.verdict',
    title: 'Verdict',
    unit: '',
    means:
      'Reproduced: within the tolerance. Calibrated on: the published value went into a fit or is read back, so agreement is no result. Differs: outside the tolerance, with the reason below. Contradicts the paper: outside, and no faithful implementation can be inside, with the proof below. Met or missed: the requirement on an advance, a rule of Sluice beyond the paper.',
    formula: 'difference compared with the tolerance',
    source: 'this run',
    caveat: 'The regression bound has no part in it.',
  },
  {
    id: 'papers.bound',
    title: 'Regression bound',
    unit: '',
    means:
      'Range that guards this program against unnoticed changes. It does not judge the published value; it is marked only when it is exceeded.',
    formula: 'measured \u2265, \u2264 or between',
    source: 'this console, beside each claim',
  },
  {
    id: 'papers.fits',
    title: 'Fitted constants',
    unit: '',
    means:
      'Constants of the model that were chosen so that it agrees with given values, and its predictions of values that were not used.',
    formula: '',
    source: 'the experiment',
    caveat: 'Agreement with the values of the fit is no result; only predictions out of sample are.',
  },
  {
    id: 'papers.timeline',
    title: 'Timeline',
    unit: 'as in the header',
    means:
      'Values of each job or measure over time in the first seed. Stacked if they are additive. Published lines are dashed.',
    formula: 'mean of each bin; bin width as in the header',
    source: 'the model, first seed',
    caveat: 'Other seeds are included in the claims only.',
  },
  {
    id: 'papers.bars',
    title: 'Bars',
    unit: 'as in the header',
    means: 'One bar per system or setting, grouped as in the paper. Dashed outlines are published values.',
    formula: 'one value for each setting',
    source: 'the model, first seed',
    caveat: 'Signed where the unit is %: below the line it is a loss.',
  },
  {
    id: 'papers.curve',
    title: 'Curve',
    unit: 'as in the header',
    means:
      'Values over a size, a number of clients or a setting. Symbols are measured values, dashed lines published ones.',
    formula: 'one value for each x; at the crosshair the published value is in parentheses',
    source: 'the model, first seed',
    caveat: 'Between two published points the dashed line is straight; the paper gives only the points.',
  },
] as const satisfies readonly Meaning[]
