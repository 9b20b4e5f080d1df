import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderPrompt } from './prompt.ts';
import type { Message, Vocabulary } from './prompt.ts';

const chatml =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
const startToken = 1000;
const endToken = 1001;
const controls = new Map([
  ['<|im_start|>', startToken],
  ['<|im_end|>', endToken],
]);

/** One token a character, control tokens apart. */
const vocabulary: Vocabulary = {
  tokenize: (text, { special }) => {
    const tokens: number[] = [];
    let rest = text;
    while (rest !== '') {
      const control = special ? [...controls].find(([name]) => rest.startsWith(name)) : undefined;
      tokens.push(control?.[1] ?? rest.codePointAt(0) ?? 0);
      rest = rest.slice(control?.[0].length ?? String.fromCodePoint(rest.codePointAt(0) ?? 0).length);
    }
    return tokens;
  },
  textOf: (tokens) =>
    tokens
      .map((token) => [...controls].find(([, id]) => id === token)?.[0] ?? String.fromCodePoint(token))
      .join(''),
  controlTexts: new Set(controls.keys()),
  bos: null,
  bosText: '',
  eosText: '',
  prependBos: false,
};

const render = (messages: Message[], template: string | null = chatml) =>
  renderPrompt(messages, { template }, vocabulary);

describe('a rendered prompt', () => {
  it('is the template’s text', () => {
    const { text, tokens, spliced } = render([{ role: 'user', content: 'look' }]);
    expect(text).toBe('<|im_start|>user\nlook<|im_end|>\n<|im_start|>assistant\n');
    expect(tokens.filter((token) => token >= 1000)).toEqual([startToken, endToken, startToken]);
    expect(spliced).toBe(true);
  });

  it('holds the sampled ids of an answer, with its end-of-turn token once', () => {
    const sampled = [9001, 9002, endToken];
    const { tokens, spliced } = render([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'xy', tokens: sampled },
      { role: 'user', content: 'b' },
    ]);
    expect(spliced).toBe(true);
    const at = tokens.indexOf(9001);
    expect(tokens.slice(at, at + 5)).toEqual([...sampled, '\n'.charCodeAt(0), startToken]);
  });

  it('closes an answer that ended without its end-of-turn token', () => {
    const { text } = render([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'x<', tokens: [120, 60] },
      { role: 'user', content: 'b' },
    ]);
    expect(text).toContain('x<<|im_end|>\n');
  });

  it('falls back to the template’s text where it drops earlier thoughts', () => {
    const forgetful = chatml.replace("message['content']", "message['content'].split('</think>')[-1]");
    const { text, spliced } = render(
      [
        { role: 'user', content: 'a' },
        {
          role: 'assistant',
          content: '<think>hm</think>x',
          tokens: [...'<think>hm</think>x'].map((c) => c.charCodeAt(0)),
        },
        { role: 'user', content: 'b' },
      ],
      forgetful,
    );
    expect(spliced).toBe(false);
    expect(text).not.toContain('hm');
  });

  it('puts the system text in front of the first user turn where a template refuses it', () => {
    const strict = `{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}${chatml}`;
    const { text } = render(
      [
        { role: 'system', content: 'rules' },
        { role: 'user', content: 'look' },
      ],
      strict,
    );
    expect(text).toContain('user\nrules\n\nlook<|im_end|>');
  });

  it('does not repeat the mark with which a base model ended its turn', () => {
    const answer = 'take pen\n\n###';
    const { text } = render(
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: answer, tokens: [...answer].map((c) => c.charCodeAt(0)) },
        { role: 'user', content: 'b' },
      ],
      null,
    );
    expect(text).toBe('### Input:\na\n\n### Response:\ntake pen\n\n### Input:\nb\n\n### Response:\n');
  });

  it('grows by appending, whatever was said', () => {
    const content = fc.string({ unit: 'grapheme', maxLength: 30 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(content, content), { minLength: 1, maxLength: 5 }),
        content,
        (turns, last) => {
          for (const template of [chatml, null]) {
            const messages: Message[] = [];
            let before: number[] = [];
            for (const [asked, said] of [...turns, [last, ''] as [string, string]]) {
              messages.push({ role: 'user', content: asked });
              const { tokens } = render(messages, template);
              expect(tokens.slice(0, before.length)).toEqual(before);
              const sampled = vocabulary.tokenize(said, { special: false, first: false });
              before = [...tokens, ...sampled];
              messages.push({ role: 'assistant', content: said, tokens: sampled });
            }
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
