"""Constructions that are wrong whatever stands around them, and right sentences that look like them."""

import pytest

from specdec_cli.text.edits import apply_edits
from specdec_cli.text.spelling.constructions import construction_edits

PAIRS = """
I listen music every evening. | I listen to music every evening.
She came for to help us. | She came to help us.
He is married with a doctor. | He is married to a doctor.
I have twenty years old. | I am twenty years old.
They had 20 years old. | They were 20 years old.
Most of people like chocolate. | Most people like chocolate.
I don't have many money. | I don't have much money.
I look forward to hear from you. | I look forward to hearing from you.
Yesterday I go to the cinema. | Yesterday I went to the cinema.
Last week she buys a car. | Last week she bought a car.
It is a very nice furniture. | It is very nice furniture.
I saw the the film. | I saw the film.
The the cat sleeps. | The cat sleeps.
I went to the the the shop. | I went to the shop.
It is is is late. | It is late.
I I think so. | I think so.
Yesterday I have seen a good film. | Yesterday I saw a good film.
Last week they have been there. | Last week they were there.
I see him last week. | I saw him last week.
We buy a car yesterday. | We bought a car yesterday.
He go home. | He goes home.
It have many rooms. | It has many rooms.
She teach and study here. | She teaches and study here.
She makes a photo of the house. | She takes a photo of the house.
We made some photos there. | We took some photos there.
Is possible to pay by card? | Is it possible to pay by card?
Is important to drink water. | It is important to drink water.
I like very much this song. | I like this song very much.
There have many people in the park. | There are many people in the park.
There had a dog. | There was a dog.
He very likes basketball. | He really likes basketball.
Although he was ill, but he came. | Although he was ill, he came.
Because it rained, so we stayed. | Because it rained, we stayed.
I have many homeworks. | I have much homework.
The informations are new. | The information are new.
Do you can help me? | Can you help me?
What means this word? | What does this word mean?
How does it looks like? | What does it look like?
He suggested me to go home. | He suggested that I go home.
The weather effects my mood. | The weather affects my mood.
My shoes are too lose. | My shoes are too loose.
To who did you speak? | To whom did you speak?
I went to the home. | I went home.
I don't know nothing. | I don't know anything.
She doesn't have no time. | She doesn't have any time.
Me and him went to the store. | He and I went to the store.
Between you and I, he is wrong. | Between you and me, he is wrong.
The man which called you is here. | The man who called you is here.
The book who I read was good. | The book that I read was good.
The number of cars have increased. | The number of cars has increased.
She asked where is the station. | She asked where the station is.
I wish I know the answer. | I wish I knew the answer.
I go to school by foot. | I go to school on foot.
In the other hand, it is late. | On the other hand, it is late.
Despite of the rain, we went. | Despite the rain, we went.
We discussed about this problem. | We discussed this problem.
According with him, it is so. | According to him, it is so.
The young peoples live here. | The young people live here.
The childrens are happy. | The children are happy.
This is more better than that. | This is better than that.
It is the most biggest city. | It is the biggest city.
I have a lots of friends. | I have a lot of friends.
In nowadays nothing is easy. | Nowadays nothing is easy.
The most of the people agree. | Most of the people agree.
Everyday I get up at six. | Every day I get up at six.
I swim everyday. | I swim every day.
He has drank the milk. | He has drunk the milk.
I was born in May 5. | I was born on May 5.
On the morning I run. | In the morning I run.
I will call you in Friday. | I will call you on Friday.
Explain me this. | Explain this to me.
He explained me why. | He explained to me why.
Can you tell me what time is it? | Can you tell me what time it is?
This are my friends. | These are my friends.
She no have money. | She doesn't have money.
I not understand. | I do not understand.
I am not agree with it. | I do not agree with it.
He is married since 2010. | He has been married since 2010.
I am waiting since an hour. | I have been waiting since an hour.
It's raining since this morning. | It has been raining since this morning.
I am used to wake up early. | I am used to waking up early.
I would like that he helps me. | I would like him to helps me.
The most people like music. | Most people like music.
How do you call this in English? | What do you call this in English?
Is raining. | It is raining.
Are many cars in the street. | There are many cars in the street.
In my country is very hot. | In my country it is very hot.
My mother she is a nurse. | My mother is a nurse.
My father he works here. | My father works here.
The weather it is nice. | The weather is nice.
She has long hairs. | She has long hair.
I made my homework. | I did my homework.
My sisters car is red. | My sister's car is red.
%d files was deleted | %d files were deleted
{count} new messages is here. | {count} new messages are here.
In my opinion it is good. | In my opinion, it is good.
He left. However we stayed. | He left. However, we stayed.
"""
RIGHT = """
Yesterday's film has been shown before.
I see the man who came yesterday.
Let him go home, and may he have fun.
He have come last week.
I find that he left yesterday.
They made a photo album.
Is possible rain a problem?
There have been many people in the park.
A very likeable dog, and he very nearly fell.
Although he was ill, but not very, he came.
Do you know that you can help me?
He suggested a film to me to watch.
The side effects my doctor named are rare.
You will lose. It is too late to lose it.
I know to whom it belongs and who did it.
She went to the home of her aunt.
There was nothing that I didn't like.
He can't do nothing but wait.
I have no more time, and I don't have no one.
He saw me and him there.
The box between you and me is mine.
The house which was sold is old.
The man who is here has a book.
A number of cars have been sold.
The bounds on the number of cars are known.
We argued about who is the best.
She need not come.
She asked, "Where is the station?"
He asked where is best.
I wish you a good day.
The bird in the other hand is mine.
We had a discussion about this problem.
The indigenous peoples of the land were here.
We need more better schools.
He makes the most of the time.
It is so everyday.
They had saw blades with them.
In May 5 people came.
On the morning of the day I ran.
In Friday's paper it was new.
There is no like there.
We are here, since you are late.
It's interesting since it is new.
It is used to get water, and I used to wake up early.
I would like that you are here.
The most people ever were there.
How do you call a function?
Is raining bad?
Are many cars in the street?
In my country he is known.
My sisters and brother was there.
If you wish you can go.
He has long hairs on his arm.
%d file was deleted
%s was deleted
{count} news is here
The most listened radio station plays jazz.
This is what is called for to resolve it.
He is married with two children.
He is married with a small child.
She has five years of experience.
Most of people's money is gone.
Many information systems failed.
We look forward to work and play.
Yesterday, I think, he went home.
Much a priori information is used.
There is a little information about it.
I know that that is right.
He had had enough.
What it is is a mystery.
She said no no no.
He came in in the end.
I gave her her book.
We stayed in The The Hague Hotel.
However hard it is, we try.
For example, the price is high.
The example for instance it gave
We spoke of In my opinion it is.
"""


@pytest.mark.parametrize("pair", PAIRS.strip().splitlines())
def test_a_wrong_construction_is_mended(pair: str) -> None:
    wrong, right = pair.split(" | ")
    assert apply_edits(wrong, sorted(construction_edits(wrong))) == right
    assert list(construction_edits(right)) == []


@pytest.mark.parametrize("line", RIGHT.strip().splitlines())
def test_what_may_be_right_stays(line: str) -> None:
    assert list(construction_edits(line)) == []
