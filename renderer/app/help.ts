/** The keys that work, as the help dialog lists them. */
export interface KeyGroup {
  readonly title: string
  readonly keys: readonly { readonly keys: readonly string[]; readonly does: string }[]
}

export const keyGroups: readonly KeyGroup[] = [
  {
    title: 'Views',
    keys: [
      { keys: ['1'], does: 'Overview' },
      { keys: ['2'], does: 'Jobs' },
      { keys: ['3'], does: 'Rules' },
      { keys: ['4'], does: 'Locks' },
      { keys: ['5'], does: 'Metadata QoS' },
      { keys: ['6'], does: 'Tokens' },
      { keys: ['7'], does: 'Sandbox' },
      { keys: ['D'], does: 'Dry run: fork what is on screen and run it; in Locks and History with Shift' },
      { keys: ['8'], does: 'History' },
      { keys: ['9'], does: 'Incidents' },
      { keys: ['0'], does: 'Connections' },
      { keys: ['Ctrl', 'K'], does: 'Command palette' },
      { keys: ['Ctrl', 'E'], does: 'Export the bundle; from other views first to where it is shown what leaves' },
      { keys: ['?'], does: 'These keys' },
    ],
  },
  {
    title: 'Time',
    keys: [
      { keys: ['Space'], does: 'Pause on this sample, or live again' },
      { keys: ['L'], does: 'Back to live, also out of what was recorded' },
      { keys: ['\u2190', '\u2192'], does: 'One sample back, one on' },
      { keys: ['Shift', '\u2190', '\u2192'], does: 'Ten samples' },
      { keys: ['Alt', '\u2190', '\u2192'], does: 'One minute' },
      { keys: ['[', ']'], does: 'Event before, next event' },
      { keys: ['C'], does: 'Compare: pin A at the cursor, which is then B; again moves A' },
      { keys: ['Shift', 'C'], does: 'End the comparison; Esc does the same' },
      { keys: ['N'], does: 'New incident at the cursor, where N means nothing else' },
      { keys: ['Shift', 'N'], does: 'Note at the cursor; the dialog offers a new incident, too' },
      { keys: ['Drag'], does: 'On the strip: show that stretch; a double click goes back' },
      { keys: ['Backspace'], does: 'Out of a zoomed window, one at a time' },
    ],
  },
  {
    title: 'Tables',
    keys: [
      { keys: ['/'], does: 'Filter the jobs' },
      { keys: ['j', 'k'], does: 'Next row, row before' },
      { keys: ['Enter'], does: 'Open the row' },
      { keys: ['Backspace'], does: 'Close the inspector' },
      { keys: ['Esc'], does: 'Leave the filter; clear the selection' },
    ],
  },
  {
    title: 'Rules',
    keys: [
      { keys: ['n'], does: 'New rule' },
      { keys: ['e'], does: 'Edit the rule; Enter does the same' },
      { keys: ['Alt', '\u2191', '\u2193'], does: 'Stage another place for it' },
      { keys: ['Ctrl', 'V'], does: 'A line of lctl becomes a draft' },
      { keys: ['Ctrl', 'Enter'], does: 'Stage the draft' },
      { keys: ['Z'], does: 'Undo list' },
    ],
  },
  {
    title: 'Metadata QoS',
    keys: [
      { keys: ['j', 'k'], does: 'Next row of the hierarchy, row before' },
      { keys: ['\u2190', '\u2192'], does: 'In the hierarchy: close and open a row' },
      { keys: ['Enter'], does: 'Channels of the row' },
      { keys: ['e'], does: 'Edit the policies; Esc puts them away and keeps the draft' },
      { keys: ['Ctrl', 'Enter'], does: 'Apply the draft' },
    ],
  },
  {
    title: 'Locks',
    keys: [
      { keys: ['j', 'k'], does: 'Next resource, resource before' },
      { keys: ['\u2190', '\u2192'], does: 'Event by event in the lanes; the moment in the overview' },
      { keys: [',', '.'], does: 'One event or message back, one on' },
      { keys: ['w', 's'], does: 'Shorter moment, longer one' },
      { keys: ['a', 'd'], does: 'Half a moment back, half on' },
      { keys: ['b'], does: 'Back to the longest queue; Esc does the same' },
      { keys: ['m'], does: 'Messages one by one; Enter plays them' },
      { keys: ['v'], does: 'The lanes as a table' },
      { keys: ['r'], does: 'Compare the lock managers on the model' },
    ],
  },
  {
    title: 'Tokens',
    keys: [
      { keys: ['j', 'k'], does: 'Next client, client before' },
      { keys: ['e'], does: 'Edit its reservation and limit; Esc puts them away and keeps what was typed' },
      { keys: ['Enter'], does: 'The client in full; Backspace closes the inspector' },
    ],
  },
  {
    title: 'Sandbox',
    keys: [
      { keys: ['r'], does: 'Run the variants' },
      { keys: ['j', 'k'], does: 'Next job, job before; Enter opens it' },
      { keys: ['/'], does: 'Filter the jobs' },
      { keys: ['Ctrl', 'Enter'], does: 'In the scenario: run it' },
      { keys: ['Esc', 'Tab'], does: 'In the scenario: leave the editor' },
    ],
  },
  {
    title: 'History',
    keys: [
      { keys: ['\u2190', '\u2192'], does: 'In the day: move the chosen span; with Shift its end' },
      { keys: ['PageUp', 'PageDown'], does: 'In the day: move it by its own length; Del takes it away' },
      { keys: ['C'], does: 'A right before B' },
      { keys: ['w', 's'], does: 'Closer, wider' },
      { keys: ['a', 'd'], does: 'Earlier, later' },
      { keys: ['v'], does: 'The day as a table' },
      { keys: ['j', 'k'], does: 'Next job that moved, job before; Enter opens it' },
      { keys: ['r'], does: 'Record a stretch' },
    ],
  },
  {
    title: 'Incidents',
    keys: [
      { keys: ['j', 'k'], does: 'Next incident, incident before; Enter goes into its notebook' },
      { keys: ['Enter'], does: 'On a note: edit it; Ctrl Enter keeps it' },
      { keys: ['Alt', '\u2191', '\u2193'], does: 'On a cell: move it' },
      { keys: ['Del'], does: 'On a cell: take it out; it can be undone' },
      { keys: ['v'], does: 'Charts as tables; on a chart that one' },
      { keys: ['Ctrl', 'V'], does: 'Lines that are pasted become a transcript' },
    ],
  },
  {
    title: 'Connections',
    keys: [
      { keys: ['j', 'k'], does: 'Next cluster, cluster before' },
      { keys: ['Enter'], does: 'Put it on screen' },
      { keys: ['t'], does: 'Test it, read only' },
      { keys: ['c'], does: 'Connect it, or disconnect it' },
      { keys: ['n'], does: 'Add a cluster' },
      { keys: ['e'], does: 'Edit it; Esc closes the panel and keeps what was typed' },
    ],
  },
  {
    title: 'Papers',
    keys: [
      { keys: ['j', 'k'], does: 'Next experiment, experiment before' },
      { keys: ['r'], does: 'Run it' },
    ],
  },
]
