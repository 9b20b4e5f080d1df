/** K alternatives from one state: the prompt is evaluated once, and the K completions share batches where sequences are free. */
import type { ChatModel, GenerateResult } from '#core/llm/port.ts';
import { medianOfPairs, ratioFigure, valueFigure } from './lib/figure.ts';
import type { Bench } from './lib/figure.ts';
import { benchThreads, openLlmBench } from './lib/llm.ts';

const alternatives = 8;
const state =
  'you are in the middle of a room . looking around you , you see a cabinet 1 , a cabinet 2 , a drawer 1 , a desk 1 , a shelf 1 . ' +
  'on the desk 1 , you see a pen 2 , a book 1 , a mug 3 . the drawer 1 is closed . you open the drawer 1 . in it , you see a key 1 . ';

const bench: Bench = {
  name: 'alternatives',
  summary: 'K = 8 alternatives of one state: evaluated tokens and time against K = 1',
  async run(options) {
    const { service, modelFile, close } = await openLlmBench(options);
    try {
      const known = await service.resolve(modelFile);
      const load = (sequences: number) =>
        service.load(known, {
          adapters: [],
          contextTokens: 2048,
          sequences,
          threads: benchThreads,
          format: 'auto',
        });
      const many = (await load(alternatives)).model;
      const single = (await load(1)).model;
      let count = 0;
      const ask = (model: ChatModel, n: number): Promise<GenerateResult> => {
        count += 1;
        return model.generate(
          {
            // A prompt of its own each time, so that nothing is in a cache yet.
            messages: [{ role: 'user', content: `${count} ${options.seed} ${state.repeat(4)}` }],
            sessionKey: `state ${count}`,
            n,
            sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 },
            seed: options.seed + count,
            maxTokens: 24,
            format: 'auto',
          },
          { signal: options.signal },
        );
      };
      const one = await ask(many, 1);
      const eight = await ask(many, alternatives);
      const completions = (result: GenerateResult): number =>
        result.generations.reduce((sum, { tokens }) => sum + tokens.length, 0);
      const cost = eight.evaluatedPromptTokens + completions(eight);
      const bound = one.promptTokens.length + completions(eight);
      options.say(`prompt ${one.promptTokens.length} tokens, completions ${completions(eight)} tokens`);
      const milliseconds = (result: GenerateResult): number => result.promptMs + result.completionMs;
      const pairs = options.quick ? 5 : 9;
      const batched = await medianOfPairs(
        async () => milliseconds(await ask(many, alternatives)),
        async () => milliseconds(await ask(single, alternatives)),
        pairs,
      );
      const againstOne = await medianOfPairs(
        async () => milliseconds(await ask(many, alternatives)),
        async () => {
          const first = await ask(many, 1);
          return first.promptMs + first.completionMs * alternatives;
        },
        pairs,
      );
      return [
        ratioFigure(
          'evaluated tokens of K = 8 against one prompt plus eight completions',
          'tokens',
          { value: cost, baseline: bound, ratio: cost / bound, ratios: [cost / bound] },
          { op: '<=', limit: 1.3 },
        ),
        ratioFigure('time of K = 8 against one prompt plus eight completions in turn', 'ms', againstOne, {
          op: '<=',
          limit: 1.3,
        }),
        valueFigure(
          'time of K = 8 with copies in eight sequences against one sequence that drops its tail',
          '×',
          batched.ratio,
          null,
        ),
      ];
    } finally {
      await close();
    }
  },
};

export default bench;
