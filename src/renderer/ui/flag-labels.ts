import type { ReflectionFlag } from '#shared/schema/branch.ts';

/** The detectors in words; the help says why such a text would teach the wrong thing. */
export const flagLabels: Record<ReflectionFlag, { label: string; help: string }> = {
  'label-leak': { label: 'Label leak', help: 'Names the expert or the label, which the policy never sees.' },
  numbering: {
    label: 'Numbered options',
    help: 'Refers to “alternative 2”, a number that only the generator saw.',
  },
  'outcome-narration': {
    label: 'Outcome narrated',
    help: 'Tells an outcome as already seen; the policy must decide before it.',
  },
  scaffold: { label: 'Scaffold', help: 'Quotes words of the generator’s prompt.' },
  doubled: { label: 'Doubled', help: 'Says the same thing twice.' },
  contradiction: { label: 'Contradiction', help: 'Concludes another action than the expert’s.' },
  'too-long': { label: 'Too long', help: 'A long text drowns the tokens of the action.' },
  'too-short': { label: 'Too short', help: 'Too few words to be a reason.' },
  garbled: { label: 'Garbled', help: 'Broken characters or no language at all.' },
  unrelated: { label: 'Unrelated', help: 'Names nothing that the expert’s action names.' },
  empty: { label: 'Empty', help: 'The model wrote nothing.' },
};
